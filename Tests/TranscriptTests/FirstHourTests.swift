import CommandKit
import Glibc
import Linux
import PatchFormat
import PatchRelease
import SystemPackage
import Synchronization
import Testing

@testable import PatchServerCommand
@testable import PatchSignCommand
@testable import CommandKit

@Suite("The question for the holders of root and targets keys")
struct KeyHoldersQuestionTests {
    /// The answers of a person, one after the other, and what that person is told.
    private func asked(
        _ answers: [TypedLine]
    ) -> (result: Result<KeyHolders, Failure>, questions: [String], reported: [String]) {
        let left = Mutex(answers)
        let questions = Mutex<[String]>([])
        let reported = Mutex<[String]>([])
        let question = KeyHoldersQuestion(
            ask: { text in
                questions.withLock { $0.append(text) }
                return left.withLock { $0.isEmpty ? .ended : $0.removeFirst() }
            },
            display: { text in reported.withLock { $0.append(text) } }
        )
        let result = Result { () throws(Failure) in try question.answer() }
        return (result, questions.withLock { $0 }, reported.withLock { $0 })
    }

    @Test(arguments: ["", "1", " 1 "])
    func `makes a recovery key for one person`(_ answer: String) throws {
        let (result, questions, _) = asked([.text(answer)])
        #expect(try result.get() == .one(recovery: true))
        #expect(questions == ["How many people hold root and targets keys? [1]"])
    }

    @Test func `makes a recovery key where nobody is there to ask`() throws {
        #expect(try asked([.noTerminal]).result.get() == .one(recovery: true))
    }

    @Test func `wants the names of several people`() throws {
        let (result, questions, reported) = asked([.text("3"), .text("ann, ben cy")])
        #expect(try result.get() == .several(["ann", "ben", "cy"]))
        #expect(questions.last == "Their names, with blanks between (a-z 0-9):" && reported == [])
    }

    @Test func `is asked again after what is no answer, three times at most`() throws {
        let (result, _, reported) = asked([.text("none"), .text("10"), .text("2"), .text("ann"), .text("ann ben")])
        #expect(try result.get() == .several(["ann", "ben"]))
        #expect(
            reported == [
                "type a number from 1 to 9", "type a number from 1 to 9",
                "type 2 different names of 1 to 32 of a-z 0-9; `recovery` is the spare key's",
            ]
        )
        let failure = Failure(
            "the key holders are not known",
            hint: "give --recovery-key, or --holder root=NAME and --holder targets=NAME for each holder",
            code: .usage
        )
        #expect(throws: failure) { try asked([.text("x"), .text("x"), .text("x"), .text("1")]).result.get() }
        #expect(throws: failure) { try asked([.ended]).result.get() }
        #expect(throws: failure) { try asked([.text("2"), .ended]).result.get() }
    }
}

@Suite("A quick start")
struct QuickstartWordsTests {
    private func app(_ folder: FilePath, _ description: String? = nil, given: AppID? = nil) -> String? {
        QuickstartTarget(folder, description: description, app: given).map { "\($0.app) \($0.channel)" }
    }

    @Test func `names the app as release.yaml does, or as its project is called`() {
        #expect(app("/home/ann/Web Shop/dist") == "app.web-shop production")
        #expect(app("/home/ann/shop/dist/browser") == "app.shop production")
        #expect(app("/srv/www") == "app.srv production")
        #expect(app("/dist") == "app.web production")
        #expect(app("/home/ann/ü") == "app.web production")
        let text = "# mine\napp: \"com.example.shop\"  # for good\nchannel: beta\npatches:\n  - {id: web, app: x}\n"
        #expect(app("/home/ann/shop", text) == "com.example.shop beta")
        #expect(app("/home/ann/shop", text, given: AppID("com.example.other")) == "com.example.other beta")
        #expect(app("/home/ann/shop", "app: a b/c\n") == "app.shop production")
        #expect(app("/home/ann/shop", "channel: root\n") == nil)
        #expect(app("/home/ann/shop", "{'app': com.example.a, patches: [{app: x}]}") == "com.example.a production")
    }

    @Test(arguments: [true, false])
    func `is interrupted with the program that it runs, unless that has a process group of its own`(isOwn: Bool) throws
    {
        let command = ["sh", "-c", "cut -d ' ' -f 5 /proc/$$/stat"]
        let ended = try ChildProcess.run(
            command,
            environment: ["PATH=/usr/bin:/bin"],
            timeout: 60,
            limit: 100,
            inOwnGroup: isOwn
        )
        #expect((String(decoding: ended.output, as: UTF8.self) == "\(getpgrp())\n") == !isOwn)
    }

    @Test func `prints the commands of a device, and what to do before production`() throws {
        let words = QuickstartText(
            place: QuickstartFolder("/srv/shop"),
            channel: Sample.channel,
            lacksConfirmation: true
        )
        #expect(
            words.lines(url: "http://127.0.0.1:8080") == [
                "", "devices ask http://127.0.0.1:8080. On this machine, a device is two commands:",
                "  patchsync init --store device --root /srv/shop/keys/root.json --server http://127.0.0.1:8080",
                "  patchsync serve --store device --sync-every 60",
                "", "devices roll back an update that its page does not confirm within 20 seconds. Add to the page:",
                #"  <script src="/__patchline/launch.js"></script>"#,
                #"  <script>addEventListener("load", () => window.patchline?.confirm())</script>"#,
                #"  <script>window.patchline?.on("ready", () => patchline.switchToPendingVersion())</script>"#,
                "", "before production:",
                "  1. move /srv/shop/keys/root-recovery.key to another medium, and all keys but online.key off the server",
                "  2. serve over HTTPS: patchsrv serve --data /srv/shop/server --passphrase-file /srv/shop/online.pass "
                    + "--tls-certificate FILE --tls-key FILE",
                "  3. publish from your pipeline: patchsrv token new ci --output ci.token --data /srv/shop/server",
            ]
        )
        #expect(
            words.lines(url: nil)[1]
                == "patchsrv serve --data /srv/shop/server --passphrase-file /srv/shop/online.pass serves it"
        )
        let beta = QuickstartText(place: QuickstartFolder("/srv/shop"), channel: Sample.beta, lacksConfirmation: false)
        #expect(beta.lines(url: "http://a")[2].hasSuffix("--server http://a --channel beta"))
        #expect(beta.lines(url: "http://a")[4...5] == ["", "before production:"])
    }

    @Test func `prints one line of JSON with the same commands`() throws {
        let words = QuickstartText(
            place: QuickstartFolder("/srv/shop"),
            channel: Sample.channel,
            lacksConfirmation: false
        )
        let document = words.json(url: "http://127.0.0.1:8080", app: Sample.app, release: 3)
        #expect(!document.line.contains("\n") && document["url"] == .text("http://127.0.0.1:8080"))
        let device = [
            "patchsync init --store device --root /srv/shop/keys/root.json --server http://127.0.0.1:8080",
            "patchsync serve --store device --sync-every 60",
        ]
        #expect(document["device"] == .array(device.map { .text($0) }))
        let unserved = words.json(url: nil, app: Sample.app, release: 3)
        #expect(unserved["url"] == .null && unserved["device"] == .array([]) && unserved["release"] == .integer(3))
    }

    @Test func `names the lines of a page only if no file of the app confirms`() throws {
        func lacks(_ key: String) throws -> Bool {
            let check = #"{"ok":true,"warnings":[{"key":"\#(key)","rule":"r","message":"m"}]}"#
            return QuickstartWork.lacksConfirmation(try JSON(parsing: Array(check.utf8)))
        }
        #expect(try lacks("patches[0].confirmed-by"))
        #expect(try !lacks("patches[0].version"))
        #expect(!QuickstartWork.lacksConfirmation(.null))
    }

    @Test func `goes on in no folder of another user`() {
        let failure = Failure(
            "/tmp/patchline belongs to ann",
            hint: "name a folder of your own with --into",
            code: .usage
        )
        #expect(QuickstartWork.foreign("/tmp/patchline", "ann") == failure)
    }

    @Test func `that serves nothing is refused where others have published`() {
        let failure = Failure(
            "the server has release 5 of production, and releases/ ends with 3: other releases were published",
            hint: "`patchsign release /srv/dist --keys /k --server URL --output NEW` makes the next one; push that",
            code: .conflict
        )
        let refused = QuickstartWork.overtaken(Sample.channel, published: 5, own: 3, source: "/srv/dist", keys: "/k")
        #expect(refused == failure)
    }

    @Test func `starts the server as it is where others have published`() throws {
        #expect(
            QuickstartWork.behind(Sample.channel, published: 5, own: 3, source: "/srv/dist", keys: "/k") == [
                "warning: the server has release 5 of production, and releases/ ends with 3: other releases were "
                    + "published, so the server is started as it is",
                "hint: if /srv/dist has changed, `patchsign release /srv/dist --keys /k --server URL --output NEW` makes "
                    + "the next one; push that",
            ]
        )
    }
}

@Suite("What is decided for a folder without release.yaml")
struct DerivedReleaseTests {
    @Test func `is said with its reasons in two lines`() throws {
        let derived = DerivedRelease(
            app: Sample.app,
            label: Sample.label,
            source: .git,
            channel: Sample.channel,
            rule: .production,
            folder: "/home/ann/shop/dist"
        )
        #expect(
            derived.lines == [
                "/home/ann/shop/dist has no release.yaml: \(Sample.label.patchID) \(Sample.label.version) "
                    + "(from git describe), channel production (the default channel)",
                "`patchsign describe /home/ann/shop/dist --app \(Sample.app)` writes one, for rules, scripts and files to leave out",
            ]
        )
    }
}

@Suite("What a newcomer is told")
struct FirstHourTranscripts {
    @Test func `stands in its transcript`() throws {
        var transcript = Transcript(
            "first-hour",
            about: "What a quick start prints, and what it says where it cannot go on."
        )
        let words = QuickstartText(
            place: QuickstartFolder("/srv/shop"),
            channel: Sample.channel,
            lacksConfirmation: true
        )
        transcript.list("a quick start", words.lines(url: "http://127.0.0.1:8080").filter { !$0.isEmpty })
        transcript.list(
            "what it served before",
            QuickstartWork.behind(Sample.channel, published: 5, own: 3, source: "/srv/dist", keys: "/k")
        )
        transcript.section(
            "where it cannot go on",
            [
                ReleaseSigner.notInstalled, ReleaseSigner.failed(["init"], .conflict),
                QuickstartWork.noChannel("/srv/shop"),
            ].map(\.transcript)
        )
        var reported: [String] = []
        var answers: [TypedLine] = [.text("x"), .text("2"), .text("ann")]
        let question = KeyHoldersQuestion(
            ask: { _ in answers.isEmpty ? .ended : answers.removeFirst() },
            display: { reported.append($0) }
        )
        var failures: [Failure] = []
        do throws(Failure) { _ = try question.answer() } catch { failures.append(error) }
        transcript.list("answers that are none", reported)
        transcript.section("no answer", failures.map(\.transcript))
        try transcript.check()
    }
}
