package import PatchFormat

extension PatchEntry {
    /// The name under which a device holds a place in this version: SHA-256(`patchline-place-v1\n` ‖ salt ‖ SHA-256 of the content
    /// ‖ device id).
    ///
    /// The device's id is never sent, and the names of one device in two versions cannot be linked.
    package func placeName(of deviceID: [UInt8]) -> SHA256Digest {
        SHA256Digest(of: Array("patchline-place-v1\n".utf8) + salt + fingerprint.sha256.bytes + deviceID)
    }
}

extension UserID {
    /// The user's name in a device's question: SHA-256(`patchline-user-v1\n` ‖ app ‖ `\n` ‖ id).
    ///
    /// It does not protect ids that can be guessed: an attacker who can try all ids finds the right one.
    package func answerHash(in app: AppID) -> SHA256Digest {
        SHA256Digest(of: Array("patchline-user-v1\n\(app)\n\(text)".utf8))
    }
}
