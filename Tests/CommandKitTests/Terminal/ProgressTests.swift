import Dispatch
import CommandKit
import Testing

@Suite("A progress line")
struct ProgressLineTests {
    @Test(arguments: [
        (90, "Downloading web  [########################......]  80 %  1.6 MB of 2.0 MB  400 kB/s"),
        (60, "Downloading web  80 %  1.6 MB of 2.0 MB  400 kB/s"),
        (49, "Downloading web  80 %  1.6 MB of 2.0 MB"),
        (30, "Down…  80 %  1.6 MB of 2.0 MB"),
        (12, "80 %"),
        (3, "8…"),
    ])
    func `drops what matters least where the terminal is narrow`(_ width: Int, shown: String) {
        var line = ProgressLine("Downloading web", total: 2_000_000, unit: .bytes)
        line.completed = 1_600_000
        line.elapsed = .seconds(4)
        let drawn = line.drawn(on: terminal(width: width))
        #expect(drawn == shown)
    }

    @Test(arguments: [10...100])
    func `never reaches the last column`(_ widths: ClosedRange<Int>) {
        var line = ProgressLine("Lädt 製品 herunter", total: 2_000_000, unit: .bytes)
        line.completed = 1_234_567
        line.elapsed = .milliseconds(3210)
        for width in widths {
            #expect(line.drawn(on: terminal(width: width)).columns < width)
        }
    }

    @Test func `without a total has no bar and no percent`() {
        var line = ProgressLine("Hashing", total: nil, unit: .items)
        line.completed = 12
        line.elapsed = .seconds(8)
        #expect(line.drawn(on: terminal(width: 80)) == "Hashing  12  1.5/s")
        #expect(line.plain == "Hashing: 12")
    }

    @Test(arguments: [(0, 1000, 0), (999, 1000, 99), (1000, 1000, 100), (1001, 1000, 100), (-1, 1000, 0), (0, 0, 100)])
    func `says 100 percent only when everything is there`(_ completed: Int, total: Int, percent: Int) {
        var line = ProgressLine("Work", total: total, unit: .items)
        line.completed = completed
        #expect(line.percent == percent)
    }

    @Test func `does not let its label drive the terminal`() {
        #expect(ProgressLine("a\rb", total: nil, unit: .items).plain == "a\\rb: 0")
    }
}

@Suite("Progress")
struct ProgressPainterTests {
    @Test func `never goes back, though of two workers the slower one may report last`() {
        var painter = ProgressPainter(ProgressLine("Work", total: 10, unit: .items), on: plain)
        _ = painter.start()
        #expect(painter.update(completed: 6, elapsed: .seconds(1)) == "Work: 60 %, 6 of 10\n")
        #expect(painter.update(completed: 5, elapsed: .seconds(1)) == nil && painter.completed == 6)
    }

    @Test func `that nobody ends leaves the terminal's line to the error`() {
        let written = Written()
        do {
            let line = ProgressLine("Work", total: 10, unit: .items)
            let report = ProgressReport(line, on: terminal(width: 40), clock: StoppedClock(), write: written.append)
            report.update(to: 3)
        }
        #expect(written.text.hasSuffix("\r\u{1B}[K"), "\(written.text.debugDescription)")
    }

    @Test func `on a terminal is one line, drawn again at most ten times a second`() {
        var painter = ProgressPainter(ProgressLine("Work", total: 10, unit: .items), on: terminal(width: 40))
        #expect(painter.start() == "\r\u{1B}[KWork  [.................]  0 %  0 of 10")
        #expect(painter.update(completed: 1, elapsed: .milliseconds(99)) == nil)
        #expect(painter.update(completed: 2, elapsed: .milliseconds(100))?.hasSuffix("20 %  2 of 10  20.0/s") == true)
        #expect(painter.update(completed: 3, elapsed: .milliseconds(199)) == nil)
        #expect(painter.update(completed: 4, elapsed: .milliseconds(200)) != nil)
        #expect(painter.finish(elapsed: .seconds(1)) == "\r\u{1B}[KWork: done, 4 in 1.0 s\n")
    }

    @Test func `in a file is a line at the start, one every ten percent, and one at the end`() {
        var painter = ProgressPainter(ProgressLine("Work", total: 1000, unit: .items), on: plain)
        var lines = painter.start()
        for completed in 1...1000 {
            lines += painter.update(completed: completed, elapsed: .milliseconds(completed)) ?? ""
        }
        lines += painter.finish(elapsed: .seconds(1)) ?? ""
        #expect(
            lines == "Work: 0 %, 0 of 1,000\n"
                + (1...9).map { "Work: \($0)0 %, \($0)00 of 1,000\n" }.joined() + "Work: done, 1,000 in 1.0 s\n"
        )
    }

    @Test func `in a file without a total is a line at the start and one at the end`() {
        var painter = ProgressPainter(ProgressLine("Work", total: nil, unit: .bytes), on: plain)
        #expect(painter.start() == "Work: 0 B\n")
        #expect(painter.update(completed: 5_000_000, elapsed: .seconds(60)) == nil)
        #expect(painter.finish(elapsed: .seconds(61)) == "Work: done, 5.0 MB in 1 min 1 s\n")
    }

    @Test func `goes away before an error is printed, and stays away`() {
        var onTerminal = ProgressPainter(ProgressLine("Work", total: 10, unit: .items), on: terminal(width: 40))
        _ = onTerminal.start()
        #expect(onTerminal.abandon() == "\r\u{1B}[K")
        #expect(onTerminal.abandon() == nil)
        #expect(onTerminal.update(completed: 9, elapsed: .seconds(9)) == nil)
        #expect(onTerminal.finish(elapsed: .seconds(9)) == nil)

        var inFile = ProgressPainter(ProgressLine("Work", total: 10, unit: .items), on: plain)
        _ = inFile.start()
        #expect(inFile.abandon() == nil)
    }

    @Test func `counts every report of many threads, and writes each line whole`() {
        let written = Written()
        let report = ProgressReport(
            ProgressLine("Work", total: 80_000, unit: .items),
            on: plain,
            clock: StoppedClock(),
            write: { written.append($0) }
        )
        let threads = DispatchGroup()
        for number in 1...8 {
            // A queue each, because one for all gets no more threads than there are free cores.
            DispatchQueue(label: "worker \(number)").async(group: threads) {
                for _ in 0..<10_000 { report.advance(by: 1) }
            }
        }
        threads.wait()
        report.finish()
        #expect(
            written.text == "Work: 0 %, 0 of 80,000\n"
                + (1...9).map { "Work: \($0)0 %, \($0 * 8),000 of 80,000\n" }.joined()
                + "Work: done, 80,000 in 0 ms\n"
        )
    }

    @Test func `is measured by the clock it is given`() {
        let written = Written()
        let report = ProgressReport(
            ProgressLine("Work", total: nil, unit: .items),
            on: plain,
            clock: StoppedClock(advancing: .seconds(3)),
            write: { written.append($0) }
        )
        report.update(to: 7)
        report.finish()
        // Read once by update and once by finish.
        #expect(written.text == "Work: 0\nWork: done, 7 in 6.0 s\n")
    }
}
