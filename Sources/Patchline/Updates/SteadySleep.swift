import CLinux
import Dispatch
import Glibc

/// A wait that costs nothing until it is over.
///
/// By a timer of the kernel's, which a suspended machine does not stop (CLOCK_BOOTTIME). `Task.sleep` wakes the process every second meanwhile (Swift 6.3 on Linux).
package enum SteadySleep {
    private static let queue = DispatchQueue(label: "patchline.steady-sleep")

    /// - Throws: when the task is cancelled.
    @Sendable package static func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        let (seconds, attoseconds) = max(.zero, duration).components
        let descriptor = patchline_open_timer(Int(seconds), Int(attoseconds / 1_000_000_000))
        // Without a descriptor to spare the wait costs more.
        guard descriptor >= 0 else { return try await Task.sleep(for: duration) }
        let (over, signal) = AsyncStream.makeStream(of: Never.self)
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            var count: UInt64 = 0
            if unsafe read(descriptor, &count, 8) == 8 { signal.finish() }
        }
        source.setCancelHandler { _ = close(descriptor) }
        source.resume()
        for await _ in over {}
        source.cancel()
        try Task.checkCancellation()
    }
}
