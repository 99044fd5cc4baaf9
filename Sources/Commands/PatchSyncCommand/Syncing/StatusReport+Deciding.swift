import PatchChoice
import PatchFormat
import PatchSync
import CommandKit

extension StatusReport {
    func printDeciding(_ policy: UpdatePolicy, to out: Console) {
        for words in policy.words { out.line(words) }
        if let zoneFault {
            out.line(
                printable("windows: \(zoneFault); new versions wait until it can be read (\(zoneFault.hint))")
            )
        }
        if let hold {
            out.line("the pending version must not start yet: it is \(hold)")
        } else if let postponed {
            out.line("postponed until \(postponed.until): new versions wait until then, unless mandatory")
        }
        for version in security {
            if let advisory = version.security { out.line(printable("security: \(version.label): \(advisory)")) }
        }
    }
}
