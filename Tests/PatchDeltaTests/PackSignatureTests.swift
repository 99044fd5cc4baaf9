import PatchDelta
import PatchFormat
import PatchCrypto
import Testing

@Suite("Signatures beside a pack")
struct PackSignatureTests {
    private let base = SampleBundle(["a.js": "a", "b.js": "b", "c.js": "c"])
    private let new = SampleBundle(["a.js": "a", "b.js": "changed", "d.js": "c"], version: "2.0.0")

    /// A column whose signatures are filled with these bytes.
    private func column(_ fill: [UInt8], length: Int = 256, key: UInt8 = 1) throws -> [UInt8] {
        let keyID = try #require(SHA256Digest(bytes: [UInt8](repeating: key, count: 32)))
        return SignatureColumn(keyID: keyID, signatures: fill.map { [UInt8](repeating: $0, count: length) }).bytes
    }

    private func signatures(_ baseColumn: [UInt8], _ newColumn: [UInt8]) throws -> [UInt8]? {
        PackSignatures.bytes(
            from: try PackManifest(try base.manifest()),
            column: baseColumn,
            to: try PackManifest(try new.manifest()),
            column: newColumn
        )
    }

    private func rebuilt(_ baseColumn: [UInt8], _ signatures: [UInt8], _ digest: SHA256Digest) throws -> [UInt8] {
        try PackSignatures.column(
            from: try PackManifest(try base.manifest()),
            column: baseColumn,
            to: try PackManifest(try new.manifest()),
            signatures: signatures,
            digest: digest
        )
    }

    @Test func `are those of new statements, and make the new column with the old one`() throws {
        let (old, column) = (try column([1, 2, 3]), try column([1, 7, 8]))
        let signatures = try #require(try signatures(old, column))
        #expect(signatures == [UInt8](repeating: 7, count: 256) + [UInt8](repeating: 8, count: 256))
        #expect(try rebuilt(old, signatures, SHA256Digest(of: column)) == column)
    }

    @Test func `are not made where the old column would not do`() throws {
        let old = try column([1, 2, 3])
        // Another key, another length, another signature of the same statement.
        for column in [try column([1, 7, 8], key: 2), try column([1, 7, 8], length: 384), try column([9, 7, 8])] {
            #expect(try signatures(old, column) == nil)
        }
    }

    @Test func `are refused where they make another column`() throws {
        let (old, column) = (try column([1, 2, 3]), try column([1, 7, 8]))
        var signatures = try #require(try signatures(old, column))
        let digest = SHA256Digest(of: column)
        #expect(throws: PackError.signatures(.length)) { try rebuilt(old, signatures.dropLast(), digest) }
        #expect(throws: PackError.signatures(.length)) { try rebuilt(old, signatures + [0], digest) }
        signatures[300] ^= 1
        #expect(throws: PackError.signatures(.column)) { try rebuilt(old, signatures, digest) }
        let rule = "is 2 for a manifest of 3 assets"
        #expect(throws: PackError.malformed(FormatError("manifest.sigs", field: "count", rule: rule))) {
            try rebuilt(try self.column([1, 2]), signatures, digest)
        }
    }
}

extension PackSignatureTests {
    private func rebuilt(_ baseColumn: [UInt8], _ signatures: ArraySlice<UInt8>, _ digest: SHA256Digest) throws
        -> [UInt8]
    {
        try rebuilt(baseColumn, Array(signatures), digest)
    }
}
