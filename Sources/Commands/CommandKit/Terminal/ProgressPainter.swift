/// Decides when and how progress is shown: a line that is redrawn on a terminal, or a few plain lines elsewhere.
///
/// ```
/// waiting ──start──▶ running ──update…──▶ running ──finish or abandon──▶ ended
/// ```
package struct ProgressPainter: Sendable {
    private enum State: Equatable {
        case waiting
        /// `shownAt` and `shownTenth`: the time and the tenth of the work of the last output.
        case running(shownAt: Duration, shownTenth: Int)
        case ended
    }

    /// A terminal's line is drawn at most ten times per second.
    ///
    /// More is unreadable and slows the work.
    package static let pause = Duration.milliseconds(100)

    private let console: Console
    private var line: ProgressLine
    private var state = State.waiting

    package init(_ line: ProgressLine, on console: Console) {
        self.line = line
        self.console = console
    }

    package var completed: Int { line.completed }

    /// Returns the text to write when the work begins.
    package mutating func start() -> String {
        precondition(state == .waiting, "progress starts once")
        state = .running(shownAt: .zero, shownTenth: 0)
        return shown()
    }

    /// Returns the text to write when `completed` is done after `elapsed`, or nil if it is too early for another.
    package mutating func update(completed: Int, elapsed: Duration) -> String? {
        // Workers may report after the end. That is not a bug, and the report is ignored.
        guard case .running(let shownAt, let shownTenth) = state else { return nil }
        // If two workers report at the same time, the lower count may be the second one.
        line.completed = max(line.completed, completed)
        line.elapsed = elapsed

        let tenth = (line.percent ?? 0) / 10
        // The last tenth is left to `finish()`, which writes it with the duration.
        let isDue = console.isTerminal ? elapsed - shownAt >= Self.pause : tenth > shownTenth && tenth < 10
        guard isDue else { return nil }
        state = .running(shownAt: elapsed, shownTenth: tenth)
        return shown()
    }

    /// Returns the text to write when the work is done.
    package mutating func finish(elapsed: Duration) -> String? {
        guard case .running = state else { return nil }
        state = .ended
        line.elapsed = elapsed
        return (console.isTerminal ? ProgressPainter.clear : "") + line.summary + "\n"
    }

    /// Returns the text to write when the work failed.
    ///
    /// The line is cleared, so that only the error is visible.
    package mutating func abandon() -> String? {
        guard case .running = state else { return nil }
        state = .ended
        return console.isTerminal ? ProgressPainter.clear : nil
    }

    /// Moves to the first column, and erases to the end of the line (ECMA-48 8.3.41).
    private static let clear = "\r\u{1B}[K"

    private func shown() -> String {
        console.isTerminal ? ProgressPainter.clear + line.drawn(on: console) : line.plain + "\n"
    }
}
