import DeviceTesting
@testable import PatchChoice
import PatchFormat
@testable import PatchSync
import PatchTesting
import PatchCrypto
import PatchTrust
import Testing

@Suite("What a device writes down")
struct StoredDocumentTests {
    private static let keys = EntryKeys([SimulatedKey.entry.key.publicKey])
    private static let first = Selection(
        number: 3,
        roleVersion: 7,
        patches: [installed("fix 1"), bundle],
        entryKeys: keys
    )
    private static let second = Selection(number: 4, roleVersion: 8, patches: [installed("fix 2")], entryKeys: .none)
    private static let bundle = InstalledPatch(
        PatchEntry(
            patchID: name("web"),
            kind: .bundle,
            version: name("1.0.0"),
            url: "targets/production/web/1.0.0/x.manifest.json",
            fingerprint: Fingerprint(of: [1]),
            signature: installed("fix 1").signature,
            salt: [],
            rules: .everyone
        ),
        column: SHA256Digest(of: [2])
    )

    private static let states: [SelectionState] = [
        .empty, .settled(first), .pending(good: nil, next: first), .pending(good: first, next: second),
        .trying(good: nil, trial: first, launch: .init(token: SimulatedDevice.token(1), launches: 0)),
        .trying(good: first, trial: second, launch: .init(token: SimulatedDevice.token(2), launches: 2)),
    ]

    @Test(arguments: states)
    func `is read as it was written`(state: SelectionState) throws {
        var blocks = TrialBlocks()
        blocks.fail([installed("fix 9")], because: .timer, at: ManualClock.start)
        blocks.fail([installed("web 9")], because: .person, at: ManualClock.start)
        var written = DeviceState()
        written.lastSelection = 4
        written.lastSync = .init(at: ManualClock.start, roleVersion: 8)
        written.machine = SelectionMachine(state: state, previous: Self.second, blocks: blocks)
        #expect(try written.reread() == written)
    }

    @Test func `may hold nothing yet`() throws {
        #expect(try DeviceState().reread() == DeviceState())
    }

    @Test(arguments: [nil, 12_345] as [Int?])
    func `keeps the configuration`(port: Int?) throws {
        var written = DeviceConfiguration(
            app: name("com.example.storefront"),
            server: SimulatedDevice.server,
            channel: name("beta"),
            appVersion: port.flatMap { _ in AppVersion("2.1") },
            port: port
        )
        written.host = port.map { _ in HostLabel.make() }
        #expect(try DeviceConfiguration(written.json.fileBytes, named: "config.json") == written)
    }

    /// One thing replaced in a good state, the field that is named and the rule.
    @Test(arguments: [
        ("patchline-state-v1", "patchline-state-v3", "format", "must be patchline-state-v2"),
        (
            "\"lastSelection\":4", "\"lastSelection\":-1", "lastSelection",
            "must be an integer from 0 to 9007199254740991"
        ),
        ("\"is\":\"trying\"", "\"is\":\"dreaming\"", "state.is", "must be empty, settled, pending or trying"),
        ("\"launches\":2", "\"launches\":-1", "state.launches", "must be an integer from 0 to 1000"),
        ("\"launch\":\"0202", "\"launch\":\"2", "state.launch", "must be 32 lowercase hex digits"),
        ("\"kind\":\"bundle\"", "\"kind\":\"bungle\"", "state.good.patches[1].kind", "must be script or bundle"),
        ("\"number\":4", "\"number\":0", "state.trial.number", "must be an integer from 1 to 9007199254740991"),
        ("rolled back by hand", "no reason", "blocks[0].reason", "is unknown"),
        ("\"at\":\"2026-11-20T", "\"at\":\"2026-11-40T", "lastSync.at", "must be YYYY-MM-DDTHH:MM:SSZ"),
    ])
    func `is refused when it is malformed, by field and rule`(old: String, new: String, field: String, rule: String)
        throws
    {
        var state = DeviceState()
        state.lastSelection = 4
        state.lastSync = .init(at: ManualClock.start, roleVersion: 8)
        var blocks = TrialBlocks()
        blocks.fail([installed("fix 9")], because: .person, at: ManualClock.start)
        let last = try #require(Self.states.last)
        state.machine = SelectionMachine(state: last, blocks: blocks)
        let text = String(decoding: state.whole.fileBytes, as: UTF8.self)
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2, "\(old) is not in \(text)")
        #expect(throws: FormatError("state.json", field: field, rule: rule)) {
            try DeviceState(Array(parts.joined(separator: new).utf8), named: "state.json", finding: .nothing)
        }
    }

    @Test(arguments: [
        ("patchline-config-v1", "x", "format", "must be patchline-config-v1"),
        ("http://", "ftp://", "server", ServerURL.rule),
        ("\"port\":80", "\"port\":0", "port", "must be an integer from 1 to 65535"),
        ("\"channel\":\"beta\"", "\"channel\":\"dial\"", "channel", ChannelName.rule),
        ("\"appVersion\":\"2\"", "\"appVersion\":\"two\"", "appVersion", AppVersion.rule),
        ("\"host\":\"a", "\"host\":\"A", "host", HostLabel.rule),
        ("\"host\":\"ab", "\"host\":\"a.b", "host", HostLabel.rule),
        ("\"host\":\"ab", "\"sharedHost\":\"ab", "sharedHost", "must be localhost or 127.0.0.1"),
    ])
    func `refuses a malformed configuration by field and rule`(old: String, new: String, field: String, rule: String)
        throws
    {
        var good = DeviceConfiguration(
            app: name("app"),
            server: SimulatedDevice.server,
            channel: name("beta"),
            appVersion: AppVersion("2"),
            port: 80
        )
        good.host = HostLabel(random: [UInt8](repeating: 0xAB, count: 16))
        let text = String(decoding: good.json.fileBytes, as: UTF8.self)
        let parts = text.split(separator: old, maxSplits: 1, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        #expect(throws: FormatError("config.json", field: field, rule: rule)) {
            try DeviceConfiguration(Array(parts.joined(separator: new).utf8), named: "config.json")
        }
    }

    @Test(arguments: [
        "http://a", "https://a.example:8443/patches/", "http://127.0.0.1:80",
    ])
    func `knows a server's address`(text: String) {
        #expect(ServerURL(text) != nil)
    }

    @Test(arguments: [
        "", "a.example", "http://", "http:///x", "http://a?b", "http://a#b", "http://me@a", "http://a b", "ftp://a",
    ])
    func `takes nothing else for a server's address`(text: String) {
        #expect(ServerURL(text) == nil)
    }
}
