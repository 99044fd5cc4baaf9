import Dispatch
import NIOConcurrencyHelpers

/// Work on thousands of rows, on all cores where that pays.
extension Range<Int> {
    /// So many at a time: what is made for them is used again for the next.
    private static let batch = 512

    /// Hands over the whole range in consecutive parts, which run at the same time.
    ///
    /// Each part but the first has a serial queue: the global ones, once used, have libdispatch look at their threads once a second.
    func forEachPartOnAllCores(_ body: @Sendable (_ part: Range<Int>) -> Void) {
        let parts = Swift.min(4, count / 1_000 + 1)
        let size = (count + parts - 1) / parts
        func part(_ number: Int) -> Range<Int> {
            let start = Swift.min(lowerBound + number * size, upperBound)
            return start..<Swift.min(start + size, upperBound)
        }
        // No other thread has it any more when this returns.
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

    /// Whether `holds` is true of all rows, asked some hundreds at a time, and no more once it is not.
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
