package import PatchFormat
import SystemPackage

/// A server's entity tag of a part, stored next to it in `INCOMING/<sha256>.tag`, so that a later process can resume the
/// download.
///
/// It is only a hint, so it is never made durable: with a wrong tag the server sends everything, or the digest differs.
/// Patchline's servers use the SHA-256 as an object's tag, which needs no file. Small parts are not worth a file.
package enum ObjectValidator {
    /// Another process downloads smaller objects again from the start.
    static let worthKeeping = 262_144

    /// The entity tag of an object on Patchline's own servers.
    package static func tag(of digest: SHA256Digest) -> String { "\"\(digest)\"" }
}

extension ObjectStore {
    func validator(of expected: ExpectedFile) -> String? {
        let file = tagFile(of: expected.sha256)
        guard expected.size >= ObjectValidator.worthKeeping,
            let bytes = try? files.read(file, limit: Limits.validator),
            !bytes.isEmpty, bytes.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    func save(_ validator: String?, of expected: ExpectedFile) throws(FileError) {
        guard expected.size >= ObjectValidator.worthKeeping else { return }
        let file = tagFile(of: expected.sha256)
        try files.removeIfPresent(file)
        guard let validator, validator != ObjectValidator.tag(of: expected.sha256),
            validator.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return }
        try files.create(file, permissions: .privateFile).append(Array(validator.utf8))
    }

    func removeValidator(of expected: ExpectedFile) {
        guard expected.size >= ObjectValidator.worthKeeping else { return }
        try? files.removeIfPresent(tagFile(of: expected.sha256))
    }

    func tagFile(of digest: SHA256Digest) -> FilePath {
        incoming.at("\(digest).tag")
    }
}
