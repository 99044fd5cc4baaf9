import PatchFormat
import PatchTesting
import Testing

@Suite("A signature column")
struct SignatureColumnTests {
    /// Key id 0x11…, `count` signatures of `length` bytes, each filled with its number.
    static func column(count: Int = 2, length: Int = 256) -> [UInt8] {
        SignatureColumn(
            keyID: digest(of: 0x11),
            signatures: (0..<count).map { [UInt8](repeating: UInt8($0), count: length) }
        ).bytes
    }

    @Test func `of the vector reads and writes the same bytes`() throws {
        let bytes = try Vectors.bytes("manifest/manifest.sigs")
        let column = try SignatureColumn(bytes, assets: 5)
        #expect(column.signatures.count == 5 && column.signatures.allSatisfy { $0.count == 384 })
        #expect(column.bytes == bytes)
    }

    @Test func `stands byte for byte as the format says`() {
        let bytes = Self.column(count: 2, length: 0x0101)
        #expect(Array(bytes[0..<8]) == Array("PLSIGS1\n".utf8))
        #expect(Array(bytes[8..<40]) == [UInt8](repeating: 0x11, count: 32))
        #expect(Array(bytes[40..<42]) == [0x01, 0x01])
        #expect(Array(bytes[42..<46]) == [0, 0, 0, 2])
        #expect(Array(bytes[46..<303]) == [UInt8](repeating: 0, count: 257))
        #expect(Array(bytes[303...]) == [UInt8](repeating: 1, count: 257))
    }

    @Test(arguments: [256, 384, 512, 1_024])
    func `holds signatures of keys from 2,048 to 8,192 bits`(_ length: Int) throws {
        #expect(
            try SignatureColumn(Self.column(length: length), assets: 2).signatures.map(\.count) == [length, length]
        )
    }

    static let startRule = "must start with PLSIGS1, a newline, a key id, a length and a count"

    @Test(arguments: 0..<8)
    func `is refused when one byte of its magic is another`(_ place: Int) {
        var bytes = Self.column()
        bytes[place] ^= 0x01
        #expect(throws: FormatError("manifest.sigs", rule: Self.startRule)) { try SignatureColumn(bytes, assets: 2) }
    }

    @Test(arguments: 8..<40)
    func `has each byte of its key id from the file`(_ place: Int) throws {
        var bytes = Self.column()
        bytes[place] ^= 0x01
        #expect(try SignatureColumn(bytes, assets: 2).keyID.bytes[place - 8] == 0x10)
    }

    @Test(arguments: [(40, 0x80), (41, 0x01), (41, 0x80)] as [(Int, UInt8)])
    func `is refused when one byte of its length is another`(_ place: Int, bit: UInt8) {
        var bytes = Self.column()
        bytes[place] ^= bit
        let length = Int(bytes[40]) << 8 | Int(bytes[41])
        #expect(
            throws: FormatError("manifest.sigs", field: "length", rule: "is \(length) for 2 signatures in 558 bytes")
        ) {
            try SignatureColumn(bytes, assets: 2)
        }
    }

    @Test(arguments: [(42, 0x8000_0002), (43, 0x0080_0002), (44, 0x8002), (45, 0x82)])
    func `is refused when one byte of its count is another`(_ place: Int, count: Int) {
        var bytes = Self.column()
        bytes[place] |= 0x80
        #expect(throws: FormatError("manifest.sigs", field: "count", rule: "is \(count) for a manifest of 2 assets")) {
            try SignatureColumn(bytes, assets: 2)
        }
    }

    @Test(arguments: [1, 3])
    func `is refused for a manifest of another number of assets`(_ assets: Int) {
        #expect(throws: FormatError("manifest.sigs", field: "count", rule: "is 2 for a manifest of \(assets) assets")) {
            try SignatureColumn(Self.column(), assets: assets)
        }
    }

    @Test(arguments: [0, 7, 8, 39, 41, 45])
    func `is refused when it ends in its header`(_ count: Int) {
        #expect(throws: FormatError("manifest.sigs", rule: Self.startRule)) {
            try SignatureColumn(Array(Self.column().prefix(count)), assets: 2)
        }
    }

    @Test(arguments: [46, 47, 302, 557])
    func `is refused when it ends in its signatures`(_ count: Int) {
        #expect(
            throws: FormatError("manifest.sigs", field: "length", rule: "is 256 for 2 signatures in \(count) bytes")
        ) {
            try SignatureColumn(Array(Self.column().prefix(count)), assets: 2)
        }
    }

    @Test func `is refused with a byte behind its end`() {
        #expect(throws: FormatError("manifest.sigs", field: "length", rule: "is 256 for 2 signatures in 559 bytes")) {
            try SignatureColumn(Self.column() + [0], assets: 2)
        }
    }

    @Test(arguments: [0, 1, 255, 1_025])
    func `is refused with signatures of a length that no key makes`(_ length: Int) {
        #expect(
            throws: FormatError(
                "manifest.sigs",
                field: "length",
                rule: "is \(length) for 2 signatures in \(46 + 2 * length) bytes"
            )
        ) {
            try SignatureColumn(Self.column(length: length), assets: 2)
        }
    }

    @Test func `of no signatures says length 0, and nothing else`() throws {
        let empty = Self.column(count: 0)
        #expect(try SignatureColumn(empty, assets: 0).bytes == empty)
        var other = empty
        other[40] = 1
        #expect(throws: FormatError("manifest.sigs", field: "length", rule: "is 256 for 0 signatures in 46 bytes")) {
            try SignatureColumn(other, assets: 0)
        }
    }

    @Test func `over its limit is refused before it is read`() {
        let bytes = [UInt8](repeating: 0, count: Limits.signatureColumn + 1)
        #expect(throws: FormatError("manifest.sigs", rule: "is over 64000000 bytes")) {
            try SignatureColumn(bytes, assets: 2)
        }
    }
}
