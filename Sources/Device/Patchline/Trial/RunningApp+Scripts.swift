package import PatchChoice
import PatchFormat
package import PatchSync

/// Scripts that the program itself runs, and not its pages.
extension RunningApp {
    package struct ScriptLaunch: Sendable {
        /// In the order in which they run.
        package let scripts: [InstalledScript]
        /// Of the trial that they are of.
        package let token: LaunchToken?
        /// Whether pages are there that say when they are ready.
        package let hasBundle: Bool
    }

    /// Scripts are about to run: a trial begins, as with its first page that is shown.
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
