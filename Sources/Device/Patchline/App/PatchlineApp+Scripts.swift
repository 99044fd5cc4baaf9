import PatchChoice
import PatchStore

extension PatchlineApp {
    /// The scripts that a program runs, and the launch that they belong to.
    public struct ScriptLaunch: Equatable, Sendable {
        /// The result of reporting a failed script.
        public enum Verdict: Equatable, Sendable {
            /// Nothing changed: the script's version is confirmed, or there is no other version to run.
            case told
            /// The script's version was on trial and was rolled back.
            case rolledBack
            /// Another version is active by now, or the failure could not be recorded.
            case otherLaunch
        }

        /// The scripts in the order in which they run, which is the order of the signed list.
        public let scripts: [PatchlineStore.Script]
        /// Whether there is a bundle, whose pages confirm the version themselves.
        public let hasBundle: Bool
        let token: LaunchToken?

        /// The token of this launch if it is on trial, for ``PatchlineStore/confirm(launch:)``; nil if it is not.
        public var trial: String? { token?.text }

        init(_ launch: RunningApp.ScriptLaunch, _ files: any FileOperations) {
            scripts = launch.scripts.map { PatchlineStore.Script($0, files: files) }
            hasBundle = launch.hasBundle
            token = launch.token
        }
    }
}
