/// The time that a server asks clients to wait: `Retry-After` in seconds (RFC 9110 §10.2.3).
///
/// Any machine on the network path can send any number. The value is bounded when it is parsed, and each caller sets the longest
/// time that it respects: ``upTo(_:)``. A date is ignored, because the device's clock may be wrong.
package struct RetryAfter: Equatable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The upper bound in seconds: the longest interval that settings allow between two syncs.
    package static let longest = 31_536_000

    /// From 0 to ``longest``.
    package let seconds: Int

    package init(_ seconds: Int) {
        self.seconds = min(max(seconds, 0), Self.longest)
    }

    package init(integerLiteral seconds: Int) {
        self.init(seconds)
    }

    /// Parses a field.
    ///
    /// Nil for a date, a negative number, and any other text that is not digits.
    package init?(field: String) {
        guard !field.isEmpty, field.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else {
            return nil
        }
        // The text has only digits, so a failed conversion means a number that is too large.
        self.init(Int(field) ?? .max)
    }

    /// Returns the time, at most `longest`.
    package func upTo(_ longest: Duration) -> Duration { min(.seconds(seconds), longest) }

    package var description: String { "\(seconds)" }
}
