package import PatchCrypto

/// The secret that grants access to the app's pages: 128 random bits as 32 lowercase hex digits (M21).
package struct AccessToken: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// Returns whether `text` is this token.
    ///
    /// The time that this takes does not reveal how much of the text matches.
    func matches(_ text: some StringProtocol) -> Bool {
        SecretBytes.areEqual(self.text.utf8, text.utf8)
    }
}
