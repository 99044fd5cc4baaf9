package import PatchFormat

extension PatchEntry {
    /// The name under which a device holds a place in this version:
    /// SHA-256(`patchline-place-v1\n` ‖ salt ‖ SHA-256 of the content ‖ device id).
    ///
    /// The device's id is never sent, and nobody can tell that two versions' names are one device's.
    package func placeName(of deviceID: [UInt8]) -> SHA256Digest {
        SHA256Digest(of: Array("patchline-place-v1\n".utf8) + salt + fingerprint.sha256.bytes + deviceID)
    }
}

extension UserID {
    /// How a device that asks for answers names its user: SHA-256(`patchline-user-v1\n` ‖ app ‖ `\n` ‖ id).
    ///
    /// Whoever can try all ids finds the one meant: it hides no id that can be guessed.
    package func answerHash(in app: AppID) -> SHA256Digest {
        SHA256Digest(of: Array("patchline-user-v1\n\(app)\n\(text)".utf8))
    }
}
