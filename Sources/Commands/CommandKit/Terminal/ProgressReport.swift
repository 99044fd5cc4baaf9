import Synchronization

/// Tells a person how long work is going; any thread may report.
///
/// ```
/// let progress = ProgressReport("Downloading web 2.0.0", total: bytes, unit: .bytes)
/// progress.advance(by: chunk.count)
/// progress.finish()          // or abandon(), before an error is printed
/// ```
///
/// Who forgets it before the end, because of an error, has abandoned it.
package final class ProgressReport: Sendable {
    private let painter: Mutex<ProgressPainter>
    private let elapsed: @Sendable () -> Duration
    private let write: @Sendable (String) -> Void

    /// Says at once that the work begins.
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

    /// The same with a clock and an output of the caller's.
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

    /// So much more is done.
    package func advance(by count: Int) {
        show { [elapsed] painter in painter.update(completed: painter.completed + count, elapsed: elapsed()) }
    }

    /// So much is done in all.
    package func update(to completed: Int) {
        show { [elapsed] painter in painter.update(completed: completed, elapsed: elapsed()) }
    }

    /// The work is done; later reports are ignored.
    package func finish() {
        show { [elapsed] painter in painter.finish(elapsed: elapsed()) }
    }

    /// The work failed; later reports are ignored.
    package func abandon() {
        show { painter in painter.abandon() }
    }

    /// Written under the lock, on purpose: otherwise an older line could be drawn over a newer one.
    private func show(_ next: (inout ProgressPainter) -> String?) {
        painter.withLock { painter in
            if let text = next(&painter) { write(text) }
        }
    }
}
