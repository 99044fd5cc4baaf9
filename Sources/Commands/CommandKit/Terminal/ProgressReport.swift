import Synchronization

/// Shows the progress of long work.
///
/// Any thread may report.
///
/// ```
/// let progress = ProgressReport("Downloading web 2.0.0", total: bytes, unit: .bytes)
/// progress.advance(by: chunk.count)
/// progress.finish()          // or abandon(), before an error is printed
/// ```
///
/// A report that is released before its end, because of an error, is abandoned.
package final class ProgressReport: Sendable {
    private let painter: Mutex<ProgressPainter>
    private let elapsed: @Sendable () -> Duration
    private let write: @Sendable (String) -> Void

    /// Shows at once that the work begins.
    package convenience init(
        _ label: String,
        total: Int?,
        unit: ProgressLine.Unit,
        on console: Console = .standardError
    ) {
        self.init(
            ProgressLine(label, total: total, unit: unit),
            on: console,
            clock: ContinuousClock(),
            write: { console.write($0) }
        )
    }

    /// A report with another clock and output.
    package init(
        _ line: ProgressLine,
        on console: Console,
        clock: some Clock<Duration>,
        write: @escaping @Sendable (String) -> Void
    ) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        painter = Mutex(ProgressPainter(line, on: console))
        self.write = write
        show { painter in painter.start() }
    }

    deinit { abandon() }

    /// Adds `count` to the completed work.
    package func advance(by count: Int) {
        show { [elapsed] painter in painter.update(completed: painter.completed + count, elapsed: elapsed()) }
    }

    /// Sets the completed work.
    package func update(to completed: Int) {
        show { [elapsed] painter in painter.update(completed: completed, elapsed: elapsed()) }
    }

    /// Ends the report after success.
    ///
    /// Later reports are ignored.
    package func finish() {
        show { [elapsed] painter in painter.finish(elapsed: elapsed()) }
    }

    /// Ends the report after a failure.
    ///
    /// Later reports are ignored.
    package func abandon() {
        show { painter in painter.abandon() }
    }

    /// Written under the lock, because otherwise an older line could be drawn over a newer one.
    private func show(_ next: (inout ProgressPainter) -> String?) {
        painter.withLock { painter in
            if let text = next(&painter) { write(text) }
        }
    }
}
