package import PatchChoice
import PatchFormat
package import PatchSync

/// Script patches that the program itself runs, outside its pages.
extension RunningApp {
    package struct ScriptLaunch: Sendable {
        /// The scripts in the order in which they run.
        package let scripts: [InstalledScript]
        /// The token of the trial, or nil if the scripts are not on trial.
        package let token: LaunchToken?
        /// Whether there is a bundle, whose pages confirm the version themselves.
        package let hasBundle: Bool
    }

    /// Begins a trial, as with its first page, because scripts are about to run.
    package func beginScripts() async throws(SyncError) -> ScriptLaunch {
        if let token = trial?.token { await pageShown(token.text) }
        guard let serving else { return ScriptLaunch(scripts: [], token: nil, hasBundle: false) }
        let installed = try device.scripts().filter { !$0.isPending }
        let scripts = serving.scripts.filter(\.place.isInHost).compactMap { patch in
            installed.first { $0.patch.content == patch.content }
        }
        return ScriptLaunch(
            scripts: scripts,
            token: trial?.token,
            hasBundle: serving.patches.contains { $0.kind == .bundle }
        )
    }
}
