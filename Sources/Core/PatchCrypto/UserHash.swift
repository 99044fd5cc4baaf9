package import PatchFormat

extension UserID {
    /// How a list names a user without saying who it is: SHA-256(the entry's salt ‖ the id's UTF-8 bytes).
    ///
    /// With another salt for each version, two versions do not show that they mean the same user. Whoever can try all
    /// ids finds the one meant: it hides no id that can be guessed.
    package func hash(salt: [UInt8]) -> SHA256Digest {
        SHA256Digest(of: salt + Array(text.utf8))
    }
}
