import Linux
import FoundationEssentials
import Glibc
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("An external signer")
struct ExternalSignerTests {
    private static let message = Array("a message".utf8)

    /// `s.signer` in a bench with `body` as its shell script, which has the production key in `KEY`.
    private static func signer(
        _ body: String,
        timeout: Int = 300,
        in bench: Workbench
    ) throws -> SigningKey {
        try bench.write("#!/bin/sh\nKEY='\(TestKey.production.file)'\n\(body)\n", to: "s.sh")
        unsafe chmod(bench.folder.appending("s.sh").string, 0o755)
        try bench.write(try TestKey.production.key.publicKey.pem, to: "s.pub")
        try bench.write(
            "command: [./s.sh, one, 'two words; $(touch x)']\npublic: s.pub\ntimeout: \(timeout)\n",
            to: "s.signer"
        )
        return try open(bench)
    }

    private static func open(_ bench: Workbench) throws -> SigningKey {
        try SigningKey(signer: bench.folder.appending("s.signer"), policy: .forTests, files: bench.files)
    }

    private static func problem(_ problem: SignerProblem, _ bench: Workbench) -> SigningError {
        .signer(bench.folder.appending("s.signer"), problem)
    }

    private static let sign = "openssl dgst -sha256 -sign \"$KEY\""

    @Test func `is given the message as it is and its bytes are taken as they are`() throws {
        let bench = try Workbench()
        let signer = try Self.signer(Self.sign, in: bench)
        #expect(try signer.publicKey == TestKey.production.key.publicKey)
        for message in [Self.message, [], [UInt8](repeating: 0, count: 5_000_000)] {
            let expected = try TestKey.production.key.sign(message, scheme: .rsaPKCS1v15)
            #expect(try signer.sign(message, scheme: .rsaPKCS1v15) == expected)
        }
    }

    @Test func `is told scheme, key id and purpose, besides the environment, and gets its arguments without a shell`()
        throws
    {
        let bench = try Workbench()
        let reported = """
            { echo "$PATCHLINE_SCHEME $PATCHLINE_KEYID $PATCHLINE_PURPOSE $#"; echo "$2"; echo "${PATH:+path}"; } \
            > "$(dirname "$0")/told"
            """
        let signer = try Self.signer("\(reported)\n\(Self.sign)", in: bench)
        _ = try signer.sign(Self.message, scheme: .rsaPKCS1v15)
        let id = EntryKeys.id(of: signer.publicKey).hex
        let rest = "two words; $(touch x)\npath\n"
        #expect(try bench.text("told") == "rsa-pkcs1v15-sha256 \(id) entry 2\n\(rest)")
        let role = TUFKey(signer.publicKey).id
        #expect(throws: Self.problem(.doesNotVerify(bytes: 384), bench)) {
            try signer.sign(Self.message, scheme: .rsaPSS, purpose: .role("production", keyID: role))
        }
        #expect(try bench.text("told") == "rsassa-pss-sha256 \(role.hex) production 2\n\(rest)")
        #expect(try bench.files.list(bench.folder) == ["Keys", "s.pub", "s.sh", "s.signer", "told"])
    }

    @Test func `is not told the secrets of other keys`() throws {
        let bench = try Workbench()
        let body = "echo \"${HOME:+home} ${PATH:+path}\" > \"$(dirname \"$0\")/told\"\n\(Self.sign)"
        _ = try Self.signer(body, in: bench)
        let file = bench.folder.appending("s.signer")
        for (hidden, reported) in [(["HOME", "PATCHLINE_NONE"], " path\n"), ([], "home path\n")] {
            let signer = try SigningKey(signer: file, hiding: hidden, policy: .forTests, files: bench.files)
            _ = try signer.sign(Self.message, scheme: .rsaPKCS1v15)
            #expect(try bench.text("told") == reported)
        }
    }

    @Test func `that may not sign a release is told so without being run`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let release = try await bench.release("v1", to: "out").verified.release
        let delegation = try bench.trust.delegation(to: named("production"))
        let ran = "touch \"$(dirname \"$0\")/ran\""
        try release.check(try Self.signer(ran, in: bench), for: delegation)
        for (key, error) in [
            (
                TestKey.entry,
                SigningError.keyInTwoUses(bench.folder.appending("s.signer"), also: "this release's entries")
            ),
            (.beta, .notASigner(bench.folder.appending("s.signer"), role: "production")),
        ] {
            try bench.write(try key.key.publicKey.pem, to: "s.pub")
            let signer = try Self.open(bench)
            #expect(throws: error) { try release.check(signer, for: delegation) }
        }
        #expect(try !bench.files.list(bench.folder).contains("ran"))
    }

    @Test func `signs a whole release: role, entries and JSPatch forms`() async throws {
        let bench = try Workbench()
        try bench.describe("v1")
        let role = try SigningKey(signer: Self.example, policy: .forTests, files: bench.files)
        let entry = try bench.signer(of: .entry)
        let jspatch = try bench.signer(of: .other)
        let builder = try ReleaseBuilder(
            rootOfTrust: try bench.trust,
            base: nil,
            time: Workbench.time,
            validity: .days(90),
            entrySigner: entry,
            roleSigners: [role],
            jspatchSigner: jspatch,
            files: bench.files
        )
        let source = bench.folder.appending("v1")
        let made = try await builder.release(try ReleaseDescription(folder: source, files: bench.files), in: source)
        #expect(made.signatures == SignatureCounts(made: 7, kept: 0))
        #expect(made.jspatch == SignatureCounts(made: 4, kept: 0))
        #expect(try bench.write(made, to: "out", with: builder).quorum.isComplete)
    }

    /// The one in the repository, which signs with a testing key.
    static let example = TestKey.folder.removingLastComponent().removingLastComponent()
        .appending("Patches/signers/openssl.signer")

    @Test(arguments: [KeyKind.ed25519, .p256])
    func `of the example signs with a key of any kind`(_ kind: KeyKind) throws {
        let bench = try Workbench()
        let key = try PrivateKey.generate(kind)
        try bench.write(String(decoding: try key.unencryptedPEM(), as: UTF8.self), to: "k.key")
        try bench.write(key.publicKey.pem, to: "k.pub")
        let script = Self.example.removingLastComponent().appending("openssl-sign.sh")
        try bench.write(
            "command: [\(script), \(bench.folder.appending("k.key"))]\npublic: k.pub\n",
            to: "s.signer"
        )
        let signature = try Self.open(bench).sign(Self.message, scheme: kind.roleScheme)
        #expect(key.publicKey.verifies(signature, over: Self.message, scheme: kind.roleScheme))
    }

    @Test func `is not believed: base64, PEM, text, nothing and another key's signature are refused`() throws {
        let bench = try Workbench()
        for (body, bytes) in [
            ("\(Self.sign) | base64 -w0", 512), ("\(Self.sign); echo", 385), ("cat", 9), ("true", 0),
            ("openssl dgst -sha256 -sign '\(TestKey.other.file)'", 384), ("openssl dgst -sha1 -sign \"$KEY\"", 384),
        ] {
            let signer = try Self.signer(body, in: bench)
            #expect(throws: Self.problem(.doesNotVerify(bytes: bytes), bench)) {
                try signer.sign(Self.message, scheme: .rsaPKCS1v15)
            }
        }
    }

    @Test func `that ends badly gives nothing, whatever it printed`() throws {
        let bench = try Workbench()
        for (body, problem) in [
            ("\(Self.sign); exit 3", SignerProblem.command(.exited(status: 3))),
            ("exit 255", .command(.exited(status: 255))),
            ("\(Self.sign); kill -9 $$", .command(.killed(signal: 9))), ("kill -13 $$", .command(.killed(signal: 13))),
        ] {
            let signer = try Self.signer(body, in: bench)
            #expect(throws: Self.problem(problem, bench)) { try signer.sign(Self.message, scheme: .rsaPKCS1v15) }
        }
    }

    @Test func `that does not end in time is killed with all that it started`() throws {
        let bench = try Workbench()
        // All that the command starts has this pipe open: it is hung up once the last of them is dead.
        let held = bench.folder.appending("held")
        #expect(unsafe mkfifo(held.string, 0o600) == 0)
        let end = try FileDescriptor.open(held, .readOnly, options: [.nonBlocking])
        defer { try? end.close() }
        let body = "exec 9> '\(held)'\necho begun >&9\nsleep 1000 &\n\(Self.sign)\nwait"
        // On a slow machine a shell may not have begun within a second.
        for seconds in [1, 15, 240] {
            let signer = try Self.signer(body, timeout: seconds, in: bench)
            #expect(throws: Self.problem(.command(.timedOut(seconds: seconds)), bench)) {
                try signer.sign(Self.message, scheme: .rsaPKCS1v15)
            }
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = try? unsafe bytes.withUnsafeMutableBytes { try unsafe end.read(into: $0) }
            guard let count, count > 0 else { continue }
            var file = pollfd(fd: end.rawValue, events: 0, revents: 0)
            #expect(unsafe poll(&file, 1, 300_000) == 1 && Int32(file.revents) & POLLHUP != 0)
            return
        }
        Issue.record("the command never began")
    }

    @Test func `that prints without end is killed`() throws {
        let bench = try Workbench()
        let signer = try Self.signer("exec cat /dev/zero", in: bench)
        #expect(throws: Self.problem(.command(.tooMuchOutput(limit: 16_384)), bench)) {
            try signer.sign(Self.message, scheme: .rsaPKCS1v15)
        }
    }

    @Test func `may leave something running that holds its output open`() throws {
        let bench = try Workbench()
        let signer = try Self.signer("sleep 1000 &\necho $! > \"$(dirname \"$0\")/pid\"\n\(Self.sign)", in: bench)
        let made = try signer.sign(Self.message, scheme: .rsaPKCS1v15)
        #expect(try made == TestKey.production.key.sign(Self.message, scheme: .rsaPKCS1v15))
        let pid = try #require(pid_t(try bench.text("pid").dropLast()))
        #expect(kill(pid, SIGKILL) == 0)
    }

    @Test func `without a command that can be run is refused by its name`() throws {
        let bench = try Workbench()
        _ = try Self.signer("true", in: bench)
        let script = bench.folder.appending("s.sh").string
        unsafe chmod(script, 0o644)
        let signer = try Self.open(bench)
        #expect(throws: Self.problem(.command(.notStarted(script, reason: "Permission denied")), bench)) {
            try signer.sign(Self.message, scheme: .rsaPKCS1v15)
        }
        for (command, found) in [
            ("no-such-command-here", "no-such-command-here"), ("./gone", bench.folder.appending("gone").string),
            ("/nowhere/sign", "/nowhere/sign"),
        ] {
            try bench.write("command: [\(command)]\npublic: s.pub\n", to: "s.signer")
            let signer = try Self.open(bench)
            #expect(throws: Self.problem(.command(.commandNotFound(found)), bench)) {
                try signer.sign(Self.message, scheme: .rsaPKCS1v15)
            }
        }
    }

    @Test func `does not sign by a scheme that its key does not have`() throws {
        let bench = try Workbench()
        let signer = try Self.signer("touch \"$(dirname \"$0\")/ran\"", in: bench)
        let unfit = KeyError.unfit(try TestKey.production.publicKey.kind, wanted: "Ed25519")
        #expect(throws: SigningError.key(bench.folder.appending("s.signer"), unfit)) {
            try signer.sign(Self.message, scheme: .ed25519)
        }
        #expect(try !bench.files.list(bench.folder).contains("ran"))
    }

    @Test(arguments: [
        ("command: sign\npublic: s.pub", 1, "command", "must be a list: [sign]"),
        ("command: []\npublic: s.pub", 1, "command", "must name a program"),
        ("command: ['']\npublic: s.pub", 1, "command", "must name a program"),
        ("command: [a]", 1, "public", "is missing"),
        ("command: [a]\npublic: s.pub\ntimeout: 0", 3, "timeout", "must be an integer from 1 to 3600"),
        ("command: [a]\npublic: s.pub\ntimeout: 3601", 3, "timeout", "must be an integer from 1 to 3600"),
        (
            "command: [a]\npublic: s.pub\nshell: true", 3, "shell",
            "is not a known field; the fields are command, public, timeout"
        ),
    ])
    func `described wrongly is refused with its line`(_ text: String, _ line: Int, _ field: String, _ rule: String)
        throws
    {
        let bench = try Workbench()
        try bench.write(text, to: "s.signer")
        let error = DescriptionError("s.signer", line: line, field: field, rule: rule)
        #expect(throws: SigningError.description(error)) { try Self.open(bench) }
    }

    @Test func `may be described in JSON, and needs its public key`() throws {
        let bench = try Workbench()
        try bench.write(#"{"command": ["true"], "public": "keys/s.pub"}"#, to: "s.signer")
        let file = bench.folder.appending("keys/s.pub")
        #expect(throws: SigningError.self) { try Self.open(bench) }
        try bench.write("hello", to: "keys/s.pub")
        #expect(throws: SigningError.key(file, .unreadable)) { try Self.open(bench) }
        try bench.write(try TestKey.other.key.publicKey.pem, to: "keys/s.pub")
        #expect(try Self.open(bench).publicKey == TestKey.other.key.publicKey)
        let policy = KeyPolicy(allowsTestingKeys: false)
        let signer = bench.folder.appending("s.signer")
        #expect(throws: SigningError.testingKey(signer.string)) {
            try SigningKey(signer: signer, policy: policy, files: bench.files)
        }
    }
}

extension Workbench {
    func text(_ path: String) throws -> String {
        String(decoding: try files.read(folder.appending(path), limit: 1_000_000), as: UTF8.self)
    }

    /// The repository's example script with another testing key.
    func signer(of key: TestKey) throws -> SigningKey {
        let script = ExternalSignerTests.example.removingLastComponent().appending("openssl-sign.sh")
        let pub = TestKey.folder.appending("\(key.rawValue).pub")
        try write("command: [\(script), \(key.file)]\npublic: \(pub)\n", to: "\(key.rawValue).signer")
        return try SigningKey(signer: folder.appending("\(key.rawValue).signer"), policy: .forTests, files: files)
    }
}
