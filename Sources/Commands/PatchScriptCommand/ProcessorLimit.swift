import PatchFormat
import Glibc
import CommandKit

/// Ends a process whose scripts never end and escape the engine's own time limit, such as `for (;;) await 0`.
enum ProcessorLimit {
    private static let seconds: rlim_t = 30
    private static let exitCode = ResultCode.malformed.rawValue

    /// Limits the processor time of the whole process.
    ///
    /// A lower existing limit is kept.
    ///
    /// The console has no limit, because its user can end the process.
    static func begin() {
        signal(SIGXCPU) { _ in
            let text: StaticString = "error: the scripts used up their processor time and did not end\n"
            _ = unsafe write(2, text.utf8Start, text.utf8CodeUnitCount)
            _exit(ProcessorLimit.exitCode)
        }
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(seconds, limit.rlim_cur)
        _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &limit)
    }
}
