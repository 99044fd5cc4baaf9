import PatchFormat
import PatchTesting
import Testing

@Suite("The limits")
struct LimitTests {
    @Test func `are the reference clients' for TUF metadata`() {
        #expect(Limits.root == 512_000 && Limits.timestamp == 16_384 && Limits.snapshot == 2_000_000)
        #expect(Limits.targetsRole == 5_000_000 && Limits.rootRotations == 256 && Limits.delegations == 32)
    }

    @Test func `are met to the byte, and a document over one is refused before it is parsed`() throws {
        let bytes = Array("{}  ".utf8)
        #expect(throws: Never.self) { try JSON.document(bytes, named: "x", limit: 4) }
        #expect(throws: FormatError("x", rule: "is over 3 bytes")) { try JSON.document(bytes, named: "x", limit: 3) }
        #expect(throws: FormatError("x", rule: "is over 3 bytes")) {
            try JSON.document(Array("nonsense".utf8), named: "x", limit: 3)
        }
    }

    @Test func `leave room in a manifest and a column for as many assets as a bundle may hold`() {
        #expect(Limits.assetsInBundle * 300 <= Limits.manifest)
        #expect(46 + Limits.assetsInBundle * 512 <= Limits.signatureColumn)
    }

    @Test func `leave room in a list for as many entries as it may hold`() {
        #expect(Limits.patchesInList * 1_400 <= Limits.patchList)
    }
}

@Suite("A format error")
struct FormatErrorTests {
    @Test func `names document, field and rule`() {
        #expect(FormatError("patch list", field: "serial", rule: "is bad").description == "patch list: serial is bad")
        #expect(FormatError("patch list", rule: "is bad").description == "patch list is bad")
    }
}
