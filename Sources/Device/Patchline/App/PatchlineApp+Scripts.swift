import PatchChoice
import PatchStore

extension PatchlineApp {
    /// The scripts that a program runs, and the launch that they speak for.
    public struct ScriptLaunch: Equatable, Sendable {
        /// What came of saying that a script failed.
        public enum Verdict: Equatable, Sendable {
            /// Nothing changed: it is of what proved itself, or there is nothing else to run.
            case told
            /// Its version was on trial, and was taken back.
            case rolledBack
            /// Another version runs by now.
            case otherLaunch
        }

        /// In the order in which they run: that of the signed list.
        public let scripts: [PatchlineStore.Script]
        /// Whether there is a bundle, whose pages say when they are ready.
        public let hasBundle: Bool
        let token: LaunchToken?

        /// Names this launch where it is on trial: ``PatchlineStore/confirm(launch:)`` takes it.
        public var trial: String? { token?.text }

        init(_ launch: RunningApp.ScriptLaunch, _ files: any FileOperations) {
            scripts = launch.scripts.map { PatchlineStore.Script($0, files: files) }
            hasBundle = launch.hasBundle
            token = launch.token
        }
    }
}
