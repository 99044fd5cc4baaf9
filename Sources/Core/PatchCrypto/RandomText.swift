import PatchFormat

/// A unique text that cannot be guessed: a token, a secret name.
package protocol RandomText: Hashable, Sendable {
    init(_ digits: RandomDigits)
    var text: String { get }
}

/// 128 bits as 32 lowercase hex digits.
package struct RandomDigits: Hashable, Sendable {
    package let text: String

    fileprivate init?(_ text: String) {
        guard text.utf8.count == 32, Hex.bytes(text) != nil else { return nil }
        self.text = text
    }

    fileprivate init(random: [UInt8]) {
        precondition(random.count == 16, "these are 128 bits")
        text = Hex.text(random)
    }
}

extension RandomText {
    package static var rule: String { "must be 32 lowercase hex digits" }

    /// Parses a text from a file, a call or a setting.
    ///
    /// Nil if it breaks ``rule``.
    package init?(_ text: String) {
        guard let digits = RandomDigits(text) else { return nil }
        self.init(digits)
    }

    /// - Parameter random: 16 bytes.
    package init(random: [UInt8]) {
        self.init(RandomDigits(random: random))
    }

    package static func make() -> Self { Self(random: SecureRandom.bytes(16)) }
}
