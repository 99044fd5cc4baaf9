import Dispatch
import Glibc

/// Ends the process some time after a signal to stop, regardless of the state of its threads.
///
/// It has a queue of its own, takes no lock and waits for no thread, so a thread that never finishes or that holds a lock cannot
/// block it. Nothing is flushed or cleaned up, because the files on disk are consistent at any moment.
package final class StopDeadline {
    private let sources: [any DispatchSourceSignal]

    /// - Parameters:
    ///   - signals: The signals that stop the process. Another handler catches them and stops the process in order.
    ///   - time: The time after the first of these signals.
    ///   - code: The exit code of the process, by signal.
    ///   - line: Written to standard error at the deadline, if that accepts it at once.
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
            // From here on, the signal has no other effect, such as ending the process.
            let registered = DispatchSemaphore(value: 0)
            source.setRegistrationHandler { registered.signal() }
            source.resume()
            registered.wait()
            return source
        }
    }

    /// Ignores later signals.
    ///
    /// A deadline that a signal has already started still ends the process.
    package func lift() {
        for source in sources { source.cancel() }
    }

    /// Skips the line if standard error is not writable: a pipe without a reader would block a longer write forever.
    private static func say(_ bytes: [UInt8]) {
        var error = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&error, 1, 0) == 1, error.revents & Int16(POLLOUT) != 0 else { return }
        _ = unsafe write(STDERR_FILENO, bytes, min(bytes.count, Int(PIPE_BUF)))
    }
}
