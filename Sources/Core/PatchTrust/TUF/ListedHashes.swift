import PatchCrypto
package import PatchFormat

/// The `hashes` of a file, all of which must match (TUF 5.7).
///
/// An unknown algorithm rejects the file.
package struct ListedHashes: Hashable, Sendable {
    /// The digests in lowercase hex, by algorithm.
    private let values: [ExactString: String]

    package init(sha256: SHA256Digest) {
        values = ["sha256": sha256.hex]
    }

    /// Reads the member `hashes` of a row.
    init(_ row: Fields) throws(FormatError) {
        let fields = try row.fields("hashes")
        guard (1...Limits.hashesOfFile).contains(fields.object.members.count) else {
            throw row.broken("hashes", "must hold 1 to \(Limits.hashesOfFile) digests")
        }
        var values: [ExactString: String] = [:]
        for member in fields.object.members {
            let hex = try fields.string(member.key.text)
            let digits = HashAlgorithm(rawValue: member.key.text)?.hexDigits
            guard Hex.bytes(hex) != nil, !hex.isEmpty, digits == nil || hex.utf8.count == digits else {
                throw fields.broken(
                    member.key.text,
                    "must be \(digits.map { "\($0)" } ?? "an even number of") lowercase hex digits"
                )
            }
            values[member.key] = hex
        }
        self.values = values
    }

    package var sha256: SHA256Digest? { values["sha256"].flatMap { SHA256Digest(hex: $0) } }

    /// The prefix of a target's file name under consistent snapshots.
    ///
    /// Any of the hashes is allowed (TUF 5.7.3).
    package var namePrefix: String {
        values["sha256"] ?? values["sha512"] ?? values.min { $0.key < $1.key }?.value ?? ""
    }

    package var json: JSON {
        .fields(values.sorted { $0.key < $1.key }.map { ($0.key.text, .text($0.value)) })
    }

    package func check(_ bytes: [UInt8], name: String) throws(TrustError) {
        let check = try HashCheck(self, name: name)
        check.update(bytes)
        try check.finish()
    }

    /// - Throws: `.unknownHash` for an unsupported algorithm.
    fileprivate func known(name: String) throws(TrustError) -> [(HashAlgorithm, String)] {
        try values.sorted { $0.key < $1.key }.map { (key, hex) throws(TrustError) in
            guard let algorithm = HashAlgorithm(rawValue: key.text) else {
                throw .unknownHash(name: name, algorithm: key.text)
            }
            return (algorithm, hex)
        }
    }
}

/// Computes all listed hashes of a stream in one pass.
package struct HashCheck {
    private let name: String
    private let digests: [(digest: MessageDigest, expected: String)]

    /// - Throws: `.unknownHash` for an unsupported algorithm.
    package init(_ hashes: ListedHashes, name: String) throws(TrustError) {
        self.name = name
        digests = try hashes.known(name: name).map { (MessageDigest($0), $1) }
    }

    package func update(_ bytes: [UInt8]) {
        for (digest, _) in digests { digest.update(bytes) }
    }

    package func finish() throws(TrustError) {
        for (digest, expected) in digests where digest.finish() != expected {
            throw .wrongDigest(name: name, algorithm: digest.algorithm.rawValue)
        }
    }
}
