import PatchFormat
import PatchTrust

/// The secret that the app's pages show: 128 random bits as 32 lowercase hex digits (M21).
package struct AccessToken: Hashable, Sendable {
    package let text: String

    /// Of a file or a setting; nil for anything but 32 lowercase hex digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let bytes = Hex.bytes(text), Hex.text(bytes) == text else { return nil }
        self.text = text
    }

    package init(random: [UInt8]) {
        precondition(random.count == 16, "an access token has 128 bits")
        text = Hex.text(random)
    }

    package static func make() -> AccessToken {
        AccessToken(random: SecureRandom.bytes(16))
    }

    /// Whether `text` is this token; how long it takes tells nothing of how much of it is right.
    func matches(_ text: some StringProtocol) -> Bool {
        let (mine, theirs) = (Array(self.text.utf8), Array(text.utf8))
        guard mine.count == theirs.count else { return false }
        return zip(mine, theirs).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }
}
