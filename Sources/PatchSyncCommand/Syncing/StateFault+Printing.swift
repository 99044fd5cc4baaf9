import PatchFormat
import PatchSync
import SystemPackage
import Terminal

extension StateFault {
    var members: [(String, JSON?)] {
        [
            ("file", .text(file.string)), ("error", .text(error.description)), ("standby", .text(standby.rawValue)),
        ]
    }

    func warn() {
        let errors = Console.standardError
        errors.line("warning: \(printable(description))")
        errors.line("hint: the next change puts it by as state.damaged.json; what failed last may be tried once more")
    }
}
