import CommandKit
import PatchStore
import PatchSync
import SystemPackage

extension StateFault {
    func warn() {
        let errors = Console.standardError
        errors.line("warning: \(printable(description))")
        errors.line(
            "hint: the next change keeps it as state.damaged.json; the version that failed last may be tried once more"
        )
        if let owner { errors.line("hint: as root: chown \(owner) \(shellWord(file.string))") }
    }

    /// The owner of the folder, if the file must not be read.
    private var owner: String? {
        guard case .file(.permission) = error else { return nil }
        return MachineFacts.owner(of: file.removingLastComponent())
    }
}
