import PatchSync
import Terminal

extension StateFault {
    func warn() {
        let errors = Console.standardError
        errors.line("warning: \(printable(description))")
        errors.line("hint: the next change puts it by as state.damaged.json; what failed last may be tried once more")
    }
}
