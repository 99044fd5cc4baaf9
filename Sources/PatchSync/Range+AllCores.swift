import Dispatch
import NIOConcurrencyHelpers

extension Range<Int> {
    /// So many at a time: what is made for them is used again for the next.
    private static let batch = 512

    /// Whether `holds` is true of every part of the range; on all cores where that pays, and not of parts behind one of which
    /// it is not.
    func allSatisfyOnAllCores(_ holds: @Sendable (Range<Int>) -> Bool) -> Bool {
        let (parts, result) = (Swift.min(4, count / 1_000 + 1), NIOLockedValueBox(true))
        let part = (count + parts - 1) / parts
        DispatchQueue.concurrentPerform(iterations: parts) { number in
            var start = Swift.min(lowerBound + number * part, upperBound)
            let end = Swift.min(start + part, upperBound)
            while start < end, result.withLockedValue(\.self) {
                let rows = start..<Swift.min(start + Self.batch, end)
                if !holds(rows) { result.withLockedValue { $0 = false } }
                start = rows.upperBound
            }
        }
        return result.withLockedValue(\.self)
    }
}
