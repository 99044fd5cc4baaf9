import ArgumentParser
import PatchDaemon
import PatchSync
import SystemPackage
import Testing

@testable import PatchSyncCommand

/// Issue 35, point 6: the settings file has all that the commands have.
@Suite("The lists of settings")
struct SettingsListTests {
    private static let program = CommandTranscript(program: PatchSyncProgram.self, name: "patchsync")
    /// Of every command.
    private static let common: Set = ["json", "help"]

    /// The options of a command that its help names, a flag without its negation.
    private static func options(_ command: String) -> Set<String> {
        let lines = program.answer(["help", command]).split(separator: "\n").drop { !$0.hasPrefix("OPTIONS") }
        return Set(lines.compactMap { $0.firstMatch(of: #/^ +(?:-h, )?--([a-z-]+)/#).map { String($0.1) } })
    }

    private static let members = Set(StoreSettings.members)

    @Test func `make every option of serve a member of the settings file, except those with a reason`() {
        let serve = Self.options("serve").subtracting(Self.common)
        #expect(serve.subtracting(Self.members) == ["next-free-port", "scripts"])
        // The last is for one run there, and kept in the store by `set` and by the file.
        #expect(serve.isSuperset(of: ["port", "header", "www", "limit-rate"]))
        // A store is made from the first three by `init`, and followed by `switch`; `serve` is a command of its own.
        #expect(Set(StoreSetting.allCases.map(\.name)).subtracting(serve) == ["server", "root", "channel", "serve"])
    }

    @Test func `make every option of set and init a member of the settings file, except those with a reason`() {
        let set = Self.options("set").subtracting(Self.common).subtracting(["store"])
        #expect(set.subtracting(Self.members) == ["user-file", "data-file", "unset", "embedded"])
        #expect(Set(DeviceSetting.allCases.map(\.name)).subtracting(set).isEmpty)
        let start = Self.options("init").subtracting(Self.common)
        #expect(start.subtracting(Self.members) == ["user-file", "data-file", "embedded"])
    }

    @Test func `say of each option that is no member where its setting is`() {
        let options = Self.options("serve").union(Self.options("set")).union(Self.options("init"))
        for option in options.subtracting(Self.members).subtracting(["help"]) {
            #expect(StoreSettings.elsewhere[option] != nil, "\(option)")
        }
        // The two that the help does not show any more, besides.
        let shown = options.union(["own-host", "no-own-host"])
        #expect(Set(StoreSettings.elsewhere.keys).subtracting(shown).isEmpty)
        #expect(Set(StoreSettings.elsewhere.keys).isDisjoint(with: Self.members))
    }

    @Test func `are all settable through the local API, except what may run scripts`() {
        #expect(DeviceSetting.allCases.filter { $0.member == nil } == [.debug])
    }

    @Test func `keep the option before --host`() throws {
        for (words, host) in [
            (["--no-own-host"], "127.0.0.1"), (["--own-host"], "own"), (["--host", "localhost"], "localhost"),
        ] {
            var given = GivenOptions()
            try FactOptions.parse(words).add(to: &given)
            #expect(try given.settings().facts.host?.rawValue == host)
        }
        #expect(throws: (any Error).self) { try FactOptions.parse(["--host", "own", "--no-own-host"]) }
    }

    @Test(arguments: [
        (["--startup-timeout", "1500"], Duration.milliseconds(1_500)),
        (["--startup-timeout", "1500ms"], .milliseconds(1_500)),
        (["--startup-timeout", "2s"], .seconds(2)), ([], .seconds(20)),
    ])
    func `take a length of time with its unit, and as before without one`(words: [String], timeout: Duration) throws {
        #expect(try ServingOptions.parse(words).settings(of: "/st").startupTimeout == timeout)
    }

    @Test(arguments: [
        (["--port", "65536"], StoreSetting.port, nil as String?), (["--startup-timeout", "2h"], .startupTimeout, nil),
        (["--header", "A: b", "--header", "c"], .header, "c"), (["--sync-every", "0"], .syncEvery, nil),
    ])
    func `refuse a value by the option's name and its rule`(words: [String], setting: StoreSetting, item: String?) {
        let fault = SettingFault(setting.rule, item: item).words("--\(setting.name)")
        #expect {
            _ = try ServingOptions.parse(words)
        } throws: { error in
            ServingOptions.message(for: error) == fault
        }
    }

    @Test func `stand in a transcript, with rules and hints`() throws {
        var transcript = Transcript("patchsync-settings", about: "The settings of a store, each with its rule.")
        transcript.list("of a process", StoreSetting.allCases.map(Self.line))
        transcript.list("kept in the store", DeviceSetting.allCases.map(Self.line))
        transcript.list(
            "no members of the settings file",
            StoreSettings.elsewhere.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        )
        transcript.list("the help of those that no command shows", Self.fileOnly.map(\.about.text))
        try transcript.check()
    }

    private static let fileOnly = [StoreSetting.store, .server, .root, .channel, .serve]

    private static func line(_ setting: some Setting) -> String { "\(setting.name) \(setting.rule)" }
}
