package import PatchFormat

extension UserID {
    /// The user's name in a list: SHA-256(the entry's salt ‖ the id's UTF-8 bytes).
    ///
    /// Each version has another salt, so the names of one user in two versions cannot be linked. It does not protect ids that can
    /// be guessed: an attacker who can try all ids finds the right one.
    package func hash(salt: [UInt8]) -> SHA256Digest {
        SHA256Digest(of: salt + Array(text.utf8))
    }
}
