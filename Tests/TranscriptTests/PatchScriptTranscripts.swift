import PatchFormat
import PatchLanguage
import PatchCrypto
import PatchRuntime
import PatchStore
import SystemPackage
import CommandKit
import Linux
import Testing

@testable import PatchScriptCommand

@Suite("What patchscript says")
struct PatchScriptTranscripts {
    private let program = CommandTranscript(program: PatchScriptProgram.self, name: "patchscript")

    @Test func `of its commands stands in its transcript, in 80 columns`() throws {
        var transcript = Transcript(
            "patchscript-help",
            about: "The help of every command of patchscript, in 80 columns."
        )
        for (command, help, _) in program.help {
            transcript.section(command, [help])
            for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(command): \(line)") }
            #expect(help.contains("EXIT CODES"))
        }
        transcript.section("not understood", program.answers(["eval demo.txt", "check", "run"]))
        try transcript.check()
    }

    @Test func `of scripts stands in its transcript`() throws {
        var transcript = Transcript("patchscript-scripts", about: "What patchscript says of scripts.")
        let broken = ["var a = = 1", "\n\n  defineClass('Cart', {\n  total( { }\n", "return 5", "'open", "\u{1}"]
        transcript.list(
            "no programs",
            broken.compactMap { PatchScript(id: "bad", version: "local", $0).check() }.map {
                CheckCommand.sentence($0, file: "bad.js")
            }
        )
        let interface = HostInterface(types: [
            .init(name: "CartController", parent: nil, constructor: nil, methods: [], statics: [])
        ])
        let text =
            "require('Cart')\ndefineClass('Cart', {})\ndefineClass('CartController', { totl() { self.ORIGtotl() } })\nrequire('Basket')"
        transcript.list(
            "names that no host knows",
            ScriptNames(text).unknown(to: [interface]).map { CheckCommand.warning($0, file: "fix.js") }
        )
        let sample = try SampleHost()
        let report = sample.host.run([
            PatchScript(
                id: "fix-cart-total",
                version: "1",
                "defineClass('CartController', { total() { let sum = 0; for (let i = 0; i < self.count(); i += 1) { const amount = self.price(i) * self.pieces(i); sum += amount - Math.floor((amount + 5) / 10) } return sum } })"
            ), PatchScript(id: "gone", version: "2", content: .missing),
            PatchScript(id: "line", version: "1", "new (require('CartController'))().price(7)"),
        ])
        transcript.section(
            "states",
            [
                RunScriptsCommand.table(report).lines(on: Console(descriptor: 1, isTerminal: false)).joined(
                    separator: "\n"
                )
            ]
        )
        transcript.list("run, without scripts", [RunScriptsCommand.nothing])
        transcript.list(
            "run, without the store's status",
            [Failure.noPatchSync, .unread(.timedOut(seconds: 600))].map(\.transcript)
        )
        #expect(try sample.total(sample.cart) == 1_799)
        sample.host.withdraw("fix-cart-total")
        #expect(try sample.total(sample.cart) == 1_800)
        let values = try sample.host.evaluate(
            "[1, 1.5, 'a', null, true, {b: []}, new Uint8Array(3), new Date(5), () => 1, new (require('CartController'))()]"
        )
        transcript.section("values on the console", [ConsoleCommand.text(of: values)])
        try transcript.check()
    }
}

@Suite("The scripts of a store")
struct StoredScriptTests {
    @Test func `are the running ones for programs, in their order`() throws {
        let status = """
            {"patches":[
            {"patchId":"a","kind":"script","version":"2","state":"Success","pending":false,"order":2,"sha256":"aa","file":"/s/aa"},
            {"patchId":"b","kind":"script","version":"1","state":"FileNotMatch","pending":false,"order":1,"sha256":"bb"},
            {"patchId":"c","kind":"script","version":"1","state":"Success","pending":false,"order":3,"sha256":"cc","file":"/s/cc",
            "runsIn":"page"},
            {"patchId":"d","kind":"script","version":"1","state":"FileNotExist","pending":false,"order":4,"sha256":"dd",
            "runsIn":"both"},
            {"patchId":"e","kind":"script","version":"9","state":"UnInstall","pending":true,"sha256":"ee","file":"/s/ee"},
            {"patchId":"web","kind":"bundle","version":"1","state":"Success","pending":false}
            ]}
            """
        let scripts = try StoredScript.running(in: JSON(parsing: Array(status.utf8)))
        #expect(
            scripts == [
                StoredScript(id: "b", version: "1", order: 1, sha256: "bb", file: nil, isAltered: true),
                StoredScript(id: "a", version: "2", order: 2, sha256: "aa", file: "/s/aa", isAltered: false),
                StoredScript(id: "d", version: "1", order: 4, sha256: "dd", file: nil, isAltered: false),
            ]
        )
    }

    /// An older patchsync gives none.
    @Test func `are refused without an order`() throws {
        let status = """
            {"patches":[{"patchId":"a","kind":"script","version":"2","state":"Success","pending":false,"sha256":"aa"}]}
            """
        let rule = "must be an integer from 1 to \(Limits.patchesInList)"
        #expect(throws: FormatError("patchsync status", field: "patches.order", rule: rule)) {
            try StoredScript.running(in: JSON(parsing: Array(status.utf8)))
        }
    }

    @Test func `have their bytes only if these are the signed ones`() throws {
        let file = FilePath("/tmp/stored-script-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().write(Array("one;".utf8), to: file)
        defer { try? DiskFiles().remove(file) }
        func script(_ sha256: String, _ file: FilePath?, isAltered: Bool = false) -> PatchScript.Content {
            StoredScript(id: "a", version: "1", order: 1, sha256: sha256, file: file, isAltered: isAltered).patch
                .content
        }
        let digest = SHA256Digest(of: Array("one;".utf8)).hex
        #expect(script(digest, file) == .bytes(Array("one;".utf8)))
        #expect(script(String(repeating: "0", count: 64), file) == .altered)
        #expect(script(digest, "/nowhere/script") == .missing)
        #expect(script(digest, nil) == .missing && script(digest, nil, isAltered: true) == .altered)
    }
}
