import Dispatch
import NIOConcurrencyHelpers

/// Work on thousands of rows, on several cores if that is faster.
extension Range<Int> {
    /// The number of rows processed together.
    ///
    /// The buffers for them are reused for the next ones.
    private static let batch = 512

    /// Passes the whole range to `body` in consecutive parts, which run concurrently.
    ///
    /// Each part but the first has a serial queue. After a use of the global queues, libdispatch would check their threads once a
    /// second.
    func forEachPartOnAllCores(_ body: @Sendable (_ part: Range<Int>) -> Void) {
        let parts = Swift.min(4, count / 1_000 + 1)
        let size = (count + parts - 1) / parts
        func part(_ number: Int) -> Range<Int> {
            let start = Swift.min(lowerBound + number * size, upperBound)
            return start..<Swift.min(start + size, upperBound)
        }
        // No other thread uses `body` any more when this returns.
        withoutActuallyEscaping(body) { body in
            let others = DispatchGroup()
            for number in 1..<parts {
                let rows = part(number)
                DispatchQueue(label: "patchline.rows").async(group: others) { body(rows) }
            }
            body(part(0))
            others.wait()
        }
    }

    /// Whether `holds` is true for all rows.
    ///
    /// It is called for some hundreds at a time, and no more after the first false.
    package func allSatisfyOnAllCores(_ holds: @Sendable (Range<Int>) -> Bool) -> Bool {
        let result = NIOLockedValueBox(true)
        forEachPartOnAllCores { part in
            var rest = part
            while !rest.isEmpty, result.withLockedValue(\.self) {
                let rows = rest.prefix(Self.batch)
                if !holds(rows) { result.withLockedValue { $0 = false } }
                rest = rest.dropFirst(rows.count)
            }
        }
        return result.withLockedValue(\.self)
    }
}
