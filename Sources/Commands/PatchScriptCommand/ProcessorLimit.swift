import PatchFormat
import Glibc
import CommandKit

/// The end of a process whose scripts go on for ever: what the engine's own limit of time does not find, as `for (;;) await 0`.
enum ProcessorLimit {
    private static let seconds: rlim_t = 30
    private static let exitCode = ResultCode.malformed.rawValue

    /// From now on, for the whole process; a lower limit that it was given stays.
    ///
    /// A person at a console is there to end it.
    static func begin() {
        signal(SIGXCPU) { _ in
            let text: StaticString = "error: the scripts took more of a processor than they may, and did not end\n"
            _ = unsafe write(2, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ProcessorLimit.exitCode)
        }
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(seconds, limit.rlim_cur)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    }
}
