import PatchServer
import Testing

@Suite("A server's settings")
struct SettingsTests {
    private static let known = [
        Setting("port", standard: "8080", rule: "must be a number") { Int($0) != nil }, Setting("tls-key"),
        Setting("secret-file", alternative: "secret"), Setting("secret-env", alternative: "secret"),
    ]

    private func file(_ text: String) throws(SettingsError) -> SettingsFile {
        try SettingsFile(Array(text.utf8), named: "srv.yaml", known: Self.known)
    }

    private func resolved(
        _ arguments: [String] = [],
        _ environment: [String: String] = [:],
        file text: String? = nil
    ) throws(SettingsError) -> ResolvedSettings {
        var found: SettingsFile?
        if let text { found = try file(text) }
        return try ResolvedSettings(
            Self.known,
            arguments: arguments,
            environment: { environment[$0] },
            file: found
        )
    }

    struct Layers: Sendable, CustomTestStringConvertible {
        let option, variable, file: Bool
        let value: String
        let origin: SettingOrigin
        var testDescription: String { "option \(option), variable \(variable), file \(file)" }
    }

    @Test(arguments: [
        Layers(option: false, variable: false, file: false, value: "8080", origin: .standard),
        Layers(option: false, variable: false, file: true, value: "3", origin: .file("srv.yaml", line: 2)),
        Layers(option: false, variable: true, file: false, value: "2", origin: .environment("PATCHSRV_PORT")),
        Layers(option: false, variable: true, file: true, value: "2", origin: .environment("PATCHSRV_PORT")),
        Layers(option: true, variable: false, file: false, value: "1", origin: .option),
        Layers(option: true, variable: false, file: true, value: "1", origin: .option),
        Layers(option: true, variable: true, file: false, value: "1", origin: .option),
        Layers(option: true, variable: true, file: true, value: "1", origin: .option),
    ])
    func `come from the nearest of command line, environment, file and default`(layers: Layers) throws {
        let found = try resolved(
            layers.option ? ["--port", "1"] : [],
            layers.variable ? ["PATCHSRV_PORT": "2"] : [:],
            file: layers.file ? "# a comment\nport: 3\n" : nil
        )
        let row = try #require(found.rows.first)
        #expect((row.name, row.value) == ("port", layers.value) && row.origin == layers.origin)
        let isAdded = !layers.option && (layers.variable || layers.file)
        #expect(found.addedArguments == (isAdded ? ["--port=\(layers.value)"] : []))
    }

    @Test
    func `are options in either form, and the last of them`() {
        #expect(
            ResolvedSettings.options(in: ["--a", "1", "--b=2=3", "--flag", "--a=4", "x"])
                == ["a": "4", "b": "2=3", "flag": "--a=4"]
        )
    }

    @Test
    func `that say the same in two ways are set by the nearest alone`() throws {
        let found = try resolved(["--secret-env", "X"], file: "secret-file: a\nport: 1\n")
        #expect(found.rows.map(\.value) == ["1", nil, nil, "X"])
        #expect(found.addedArguments == ["--port=1"])
    }

    @Test(arguments: [
        ("prot: 1", SettingsError.unknownKey(file: "srv.yaml", line: 1, key: "prot", nearest: "port")),
        ("\nTLS_KEY: x", .unknownKey(file: "srv.yaml", line: 2, key: "TLS_KEY", nearest: "tls-key")),
        ("whatever-else: 1", .unknownKey(file: "srv.yaml", line: 1, key: "whatever-else", nearest: nil)),
        ("port: 1\nport: 2", .notSettings(file: "srv.yaml", line: 2, rule: "sets 'port' twice")),
        ("port: [1, 2]", .notSettings(file: "srv.yaml", line: 1, rule: "has more than one value for port")),
        ("- port", .notSettings(file: "srv.yaml", line: 1, rule: "must be a mapping: name: value")),
        ("[a]: 1", .notSettings(file: "srv.yaml", line: 1, rule: "must have plain text as keys")),
    ])
    func `of a file that cannot be are refused by file, line and key`(text: String, error: SettingsError) {
        #expect(throws: error) { try file(text) }
    }

    @Test
    func `with a value that cannot be are refused by where it stands`() {
        let rule = "must be a number"
        #expect(throws: SettingsError.badValue(.file("srv.yaml", line: 2), name: "port", rule: rule)) {
            try resolved(file: "tls-key: k\nport: eight")
        }
        #expect(throws: SettingsError.badValue(.environment("PATCHSRV_PORT"), name: "port", rule: rule)) {
            try resolved([], ["PATCHSRV_PORT": ""])
        }
        #expect(throws: SettingsError.badValue(.option, name: "port", rule: rule)) { try resolved(["--port=x"]) }
        let text = SettingsError.badValue(.file("srv.yaml", line: 2), name: "port", rule: rule).description
        #expect(text == "srv.yaml:2: port must be a number")
    }

    @Test
    func `may be none`() throws {
        for text in ["", "# nothing\n", "tls-key:\nport: ~\n"] {
            #expect(try resolved(file: text).rows.map(\.value) == ["8080", nil, nil, nil], "\(text)")
        }
    }

    @Test
    func `are shown as a file that says the same`() throws {
        let found = try resolved(["--port", "1"], ["PATCHSRV_TLS_KEY": "a: \"b\" #c"], file: "secret-env: 1.10")
        #expect(
            found.text == """
                port: 1  # the command line
                tls-key: "a: \\"b\\" #c"  # PATCHSRV_TLS_KEY
                secret-file:  # not set
                secret-env: 1.10  # srv.yaml:1

                """
        )
        #expect(try resolved(file: found.text).rows.map(\.value) == found.rows.map(\.value))
    }
}
