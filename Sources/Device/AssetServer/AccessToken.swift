package import PatchCrypto

/// The secret that the app's pages show: 128 random bits as 32 lowercase hex digits (M21).
package struct AccessToken: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// Whether `text` is this token; how long it takes tells nothing of how much of it is right.
    func matches(_ text: some StringProtocol) -> Bool {
        SecretBytes.areEqual(self.text.utf8, text.utf8)
    }
}
