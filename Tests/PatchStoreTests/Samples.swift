import PatchFormat
import Testing

/// Bytes with their digests, which coreutils computed.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let fingerprint: Fingerprint

    var digest: SHA256Digest { fingerprint.sha256 }
    var testDescription: String { name }

    private init(_ name: String, _ bytes: [UInt8], md5: String, sha1: String, sha256: String) {
        guard let md5 = MD5Digest(hex: md5), let sha1 = SHA1Digest(hex: sha1), let sha256 = SHA256Digest(hex: sha256)
        else { preconditionFailure("the digests of \(name) are misspelt") }
        self.name = name
        self.bytes = bytes
        fingerprint = Fingerprint(size: bytes.count, md5: md5, sha1: sha1, sha256: sha256)
    }

    static let small = Sample(
        "small",
        Array("patchline".utf8),
        md5: "bae1f676180fca290267d8bc5d19021b",
        sha1: "ccdad1ce4ab91f349037b5a8b6b49130c797ee47",
        sha256: "037330d6f6b54f3f0ead6ac12e6470ddda4c41662906c4b3dc968006327fd4c9"
    )

    static let other = Sample(
        "other",
        Array("another script".utf8),
        md5: "c6d8682f4a9257dcd49d800bf21e2910",
        sha1: "87ecb2286447581d4f946f2ef6dfc8e42fbace04",
        sha256: "97dda63e2bd32a149f1bfa22be5f7a6b39b0ed449b4ca722a6acb79b3923d47f"
    )

    static let empty = Sample(
        "empty",
        [],
        md5: "d41d8cd98f00b204e9800998ecf8427e",
        sha1: "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )

    /// 600,000 bytes: more than two of the pieces in which files are read.
    static let large = Sample(
        "large",
        (0..<600_000).map { UInt8($0 * 7 % 251) },
        md5: "e2c78d5e95c4fc1ec8841be424e905d6",
        sha1: "d4e8e21e089f09b367702caa2faab1ae07a06b82",
        sha256: "d913e86e3da5898bbfeb55b00a3ec748478ee9e0508781f089180e43617f2aa4"
    )

    static let all = [small, other, empty, large]
}

extension Fingerprint {
    /// The same entry with another value in one field.
    func with(size: Int? = nil, md5: MD5Digest? = nil, sha1: SHA1Digest? = nil) -> Fingerprint {
        Fingerprint(size: size ?? self.size, md5: md5 ?? self.md5, sha1: sha1 ?? self.sha1, sha256: sha256)
    }
}
