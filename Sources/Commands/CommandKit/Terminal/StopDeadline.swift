import Dispatch
import Glibc

/// Ends the process some time after a signal to stop, whatever its threads are doing then.
///
/// It has a queue of its own, takes no lock, and waits for no thread: neither one that never ends its work nor one that
/// holds a lock can block it. Nothing is flushed or cleaned up; the files on disk are consistent at any moment anyway.
package final class StopDeadline {
    private let sources: [any DispatchSourceSignal]

    /// - Parameters:
    ///   - signals: those that ask the process to stop; another handler traps them and stops it in order.
    ///   - time: counted from the first of them.
    ///   - code: the process's exit code, by the signal.
    ///   - line: written to standard error then, if that takes it at once.
    package init(
        _ signals: [Int32],
        allowing time: Duration,
        code: @escaping @Sendable (Int32) -> Int32 = { 128 + $0 },
        line: @escaping @Sendable () -> String
    ) {
        let queue = DispatchQueue(label: "patchline.stop-deadline")
        let (seconds, attoseconds) = time.components
        let wait = DispatchTimeInterval.milliseconds(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
        sources = signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler {
                queue.asyncAfter(deadline: .now() + wait) {
                    Self.say(Array("\(line())\n".utf8))
                    _exit(code(signal))
                }
            }
            // From here on the signal has no other effect, such as the end of the process.
            let registered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            registered.wait()
            return source
        }
    }

    /// The process stopped by itself, or goes on.
    package func lift() {
        for source in sources { source.cancel() }
    }

    /// A pipe without a reader would block a longer write for ever.
    private static func say(_ bytes: [UInt8]) {
        var error = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&error, 1, 0) == 1, error.revents & Int16(POLLOUT) != 0 else { return }
        _ = unsafe write(STDERR_FILENO, bytes, min(bytes.count, Int(PIPE_BUF)))
    }
}
