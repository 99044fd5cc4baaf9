/// How long a server asks to be left alone: `Retry-After` in seconds (RFC 9110 §10.2.3).
///
/// Any machine on the way can send any number. The value is bounded where it is read, and each caller names the longest time that
/// it respects: ``upTo(_:)``. A date counts as no value, because the device's clock may be wrong.
package struct RetryAfter: Equatable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// In seconds: the longest interval that settings allow between two syncs, to which a longer wish is shortened.
    package static let longest = 31_536_000

    /// From 0 to ``longest``.
    package let seconds: Int

    package init(_ seconds: Int) {
        self.seconds = min(max(seconds, 0), Self.longest)
    }

    package init(integerLiteral seconds: Int) {
        self.init(seconds)
    }

    /// Reads a field; nil for a date, a negative number, and everything else but digits.
    package init?(field: String) {
        guard !field.isEmpty, field.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return nil
        }
        // Only digits: no integer means more than an integer can hold.
        self.init(Int(field) ?? .max)
    }

    /// The time, and at most `longest`.
    package func upTo(_ longest: Duration) -> Duration { min(.seconds(seconds), longest) }

    package var description: String { "\(seconds)" }
}
