import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("The checks of a release")
struct ExplainTests {
    /// What verifying `one` writes down, up to the check that ends it.
    static func checks(_ bench: Workbench) throws -> (records: [CheckRecord], error: SigningError?) {
        var records: [CheckRecord] = []
        do throws(SigningError) {
            let trust = try ReleaseTrust(folder: bench.keys, policy: .forTests, files: bench.files) {
                records.append($0)
            }
            _ = try ReleaseVerification(bench.folder.appending("one"), rootOfTrust: trust, files: bench.files) {
                records.append($0)
            }
            return (records, nil)
        } catch { return (records, error) }
    }

    static func rows(_ records: [CheckRecord], _ rule: CheckRecord.Rule) -> [String] {
        records.filter { $0.rule == rule }.map(\.subject)
    }

    static let assets = ["app/main.js", "app/main.js.map", "img/café one.svg", "index.html"].map { "web 1.0.0 \($0)" }

    @Test func `are written down by the verification itself, with subject, rule and key`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let (records, error) = try Self.checks(bench)
        #expect(error == nil && records.allSatisfy(\.holds))
        #expect(Self.rows(records, .rootSignature) == ["root"])
        #expect(Self.rows(records, .roleSignature) == ["targets", "production 1"])
        #expect(Self.rows(records, .threshold) == ["root, 1 of 1", "targets, 1 of 1", "production 1, 1 of 1"])
        #expect(Self.rows(records, .nextVersion) == ["production 1"])
        let targets = ["production/patchlist.json", "production/web/1.0.0/manifest.json"]
        let column = "production/web/1.0.0/manifest.sigs"
        #expect(Self.rows(records, .delegatedPath) == targets + [column])
        #expect(Self.rows(records, .targetBytes) == targets + [column])
        #expect(Self.rows(records, .addressee) == ["production/patchlist.json", "web 1.0.0 manifest"])
        #expect(Self.rows(records, .entrySignature) == ["fix-a 1", "fix-b 1", "web 1.0.0"])
        #expect(Self.rows(records, .assetSignature) == Self.assets)
        #expect(Self.rows(records, .fingerprint) == ["fix-a 1", "fix-b 1", "web 1.0.0 manifest"] + Self.assets)
        let entryKey = EntryKeys.id(of: try TestKey.entry.key.publicKey)
        let releaseKey = TUFKey(rsa: try TestKey.production.key.publicKey, scheme: .rsaPSS).id
        #expect(
            records.filter { $0.rule == .assetSignature || $0.rule == .entrySignature }.allSatisfy {
                $0.key == entryKey
            }
        )
        #expect(records.first { $0.subject == "production 1" && $0.rule == .roleSignature }?.key == releaseKey)
    }

    @Test func `end with the one before the first that does not hold`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let one = try await bench.release("v1", to: "one").verified
        let object = bench.folder.appending("one/\(URLLayout.object(one.list.entries[1].fingerprint.sha256))")
        try bench.files.remove(object)
        try bench.files.write(Array("B()".utf8), to: object)
        let (records, error) = try Self.checks(bench)
        let fault = EntryFault(entry: "fix-b 1", rule: .differs("md5"))
        #expect(error == .release(bench.folder.appending("one"), .trust(.entry(fault))))
        #expect(Self.rows(records, .fingerprint) == ["fix-a 1"])
        #expect(Self.rows(records, .assetSignature) == [])
    }

    @Test func `say that signatures are missing where the threshold is not reached`() async throws {
        let bench = try Workbench(threshold: 2)
        try bench.describe("v1")
        try await bench.release("v1", to: "one")
        let (records, error) = try Self.checks(bench)
        #expect(error == nil)
        #expect(
            records.last == CheckRecord(.threshold, of: "production 1, 1 of 2", fault: "signatures are missing")
        )
    }
}
