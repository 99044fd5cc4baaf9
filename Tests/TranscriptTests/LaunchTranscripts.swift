import Linux
import HTTPFiles
import AssetServer
import DeviceOutput
import PatchFetch
import Foundation
import PatchChoice
import PatchDaemon
import PatchFormat
import PatchStore
import PatchSync
import PatchCrypto
import PatchTrust

import SystemPackage
import CommandKit
import Testing

@testable import PatchSyncCommand
@testable import Patchline

@Suite("What patchsync tells while it works")
struct LaunchTranscripts {
    private static func failure(_ fault: String) throws -> ScriptFailure {
        let report = JSON.fields([
            ("patchId", .text("fix-cart-total")), ("version", .text("3")), ("fault", .text(fault)),
            ("message", .text("Uncaught TypeError: lines is undefined")),
            ("line", .integer(fault == "threw" ? 12 : 0)),
            ("column", .integer(9)),
        ])
        return try ScriptFailure(reported: Fields(report, of: "report"))
    }

    @Test func `stands in its transcript, of serving and of syncing`() throws {
        var transcript = Transcript("patchsync-events", about: "Lines of patchsync serve, and of a sync while it runs.")
        let bundle = Selection(number: 3, roleVersion: 7, patches: [Self.web], entryKeys: .none)
        let newer = Selection(
            number: 4,
            roleVersion: 8,
            patches: [Self.bundle(Sample.named("1.4.3"))],
            entryKeys: .none
        )
        let none = Selection(number: 4, roleVersion: 8, patches: [], entryKeys: .none)
        let digits = try #require(LaunchToken(String(repeating: "5e", count: 16)))
        let events: [DeviceEvent] = [
            .nothingInstalled, .serving(bundle, trial: nil), .serving(bundle, trial: digits),
            .following(Sample.beta), .withdrawn([Sample.patch]), .damaged(["web 1.4.2 app.js"]),
            .confirmed(bundle), .rolledBack(to: nil, from: bundle, because: nil),
            .rolledBack(to: bundle, from: bundle, because: Setback(reason: .launches)),
            .rolledBack(
                to: bundle,
                from: bundle,
                because: Setback(
                    reason: .timer,
                    error: PageError(message: "Uncaught Error: no cart", source: "/app.js", line: 3, column: 9)
                )
            ), .unproven(bundle), .superseded(bundle, by: newer), .superseded(bundle, by: none),
            .bundleMissing(Sample.patch, there: [Sample.script]),
            .scriptFailed(try Self.failure("threw")), .scriptsLeftOut(page: "/cart", .damagedScript),
            .stalePage(version: "1.4.1"), .stalePage(version: nil),
            .parametersChanged(OnlineParameters(app: Sample.app, channel: Sample.channel)),
            .trouble(.file(.noSpace(.write, Sample.path))), .portTaken(8_081, next: 8_082),
            .synced(.failure(.fetch(.stalled("metadata/timestamp.json")))), .parametersTrouble(.fetch(.newerList)),
        ]
        transcript.list(
            "serving",
            try Written.lines { console in
                let launch = LaunchEvents(json: false, store: "/var/lib/app", out: console, errors: console)
                for event in events { launch.take(event) }
                launch.isOpen()
            }
        )
        let states = [
            ScriptState(patchID: "fix-cart-total", version: "2", state: "Success", failure: nil),
            ScriptState(
                patchID: "line",
                version: "1",
                state: "UnKnownError",
                failure: "it throws 5, which is not an error"
            ),
        ]
        transcript.section(
            "serve --scripts",
            try Written.lines { console in
                let launch = LaunchEvents(json: false, store: "/var/lib/app", out: console, errors: console)
                for states in [states, []] { launch.scripts(.success(states)) }
                let errors: [ChildProcessError] = [
                    .exited(status: 3), .commandNotFound("patchscript"),
                    .notStarted("patchscript", reason: "Permission denied"),
                    .killed(signal: 6), .timedOut(seconds: 60), .tooMuchOutput(limit: 1_000_000),
                ]
                for error in errors { launch.scripts(.failure(error)) }
            }
        )
        transcript.list(
            "scripts of one's own",
            [Failure(notInDebugMode: "/var/lib/app"), .noPatchScript].map { "\($0.message)\nhint: \($0.hint ?? "")" }
        )
        transcript.list("a page without its scripts", PagePlan.Reason.allCases.map { $0.words("/cart") })
        transcript.list("a script that a page could not load", [try Self.failure("unloaded").description])
        let failure = PatchFailure(patchID: Sample.patch, version: Sample.version, error: .fetch(.cancelled))
        let steps: [SyncEvent] = [
            .verified(roleVersion: 7, entries: 3), .downloading(files: 0, bytes: 0),
            .byPack(PackUse(label: Sample.label, base: Sample.named("1.0.0"), bytes: 12_345, estimate: 345_678)),
            .byPack(
                PackUse(
                    label: Sample.label,
                    base: Sample.named("1.0.0"),
                    through: Sample.named("1.2.0"),
                    bytes: 12_345,
                    estimate: 345_678
                )
            ),
            .packRefused(Sample.label, because: .fetch(.tooLarge("packs/5e5e/from-7a7a.pack", limit: 1_048_576))),
            .state(Sample.patch, Sample.version, .add, fault: nil), .downloading(files: 0, bytes: 0),
            .waiting(.seconds(8), because: .fetch(.stalled("metadata/timestamp.json"))), .networkChanged,
            .newerList(roleVersion: 8), .failed(failure),
        ]
        transcript.list(
            "syncing",
            try Written.lines { console in
                let sync = SyncTranscript(console)
                for process in [4_711, nil] { sync.wait(for: process, upTo: SyncCommand.patience) }
                for step in steps { sync.take(step) }
            }
        )
        var told = DeviceEvents()
        var log = events.flatMap { told.take($0) }
        for step in steps + [.state(Sample.patch, Sample.version, .unInstall, fault: nil)] {
            log += told.take(.syncing(step))
        }
        let questions = [EvaluatedRule.Question.share(2_500), .condition("region==eu")]
        var asked = DeviceReportTranscripts.synced([failure])
        asked.asked = questions.flatMap { question in
            [true, false].map { EvaluatedRule(Sample.label, question, isHit: $0) }
        }
        log += told.take(.synced(.success(asked)))
        log += told.take(
            .serving(Selection(number: 4, roleVersion: 7, patches: [Self.tip], entryKeys: .none), trial: nil)
        )
        for event in log {
            // A doubled key ends this process: JSONObject.
            let document = event.json(at: Sample.time, store: "shop", id: "s-1")
            #expect(throws: Never.self) { try JSON(parsing: document.fileBytes) }
            #expect(document["id"] == .text("s-1") && document["type"] == .integer(event.type.rawValue))
        }
        let lines = try log.map { try #require(LogLine($0.logged(at: Sample.time, by: "serve"))) }
        transcript.list("log", lines.map(\.words))
        let digest = LogDigest(Array(lines.prefix(16)))
        transcript.list("status --debug", try Written.lines { digest.print(nil, to: $0) })
        let failures = LogDigest(lines.filter { $0.event == "trouble" && $0.type == 6 && $0.json["patchId"] == nil })
        #expect(failures.failuresInARow > 0)
        transcript.list("status --debug, after failed syncs", try Written.lines { failures.print(nil, to: $0) })
        transcript.list("status --debug, of a new store", try Written.lines { LogDigest([]).print(nil, to: $0) })
        try transcript.check()
    }

    @Test func `goes to the journal as entries with fields, and to standard output where nobody takes them`() throws {
        let path = "/tmp/journal-\(UInt64.random(in: 0...UInt64.max))"
        let journal = try Datagrams(at: path)
        let texts = try Written.lines { console in
            for path in [path, "/dev/null"] {
                let events = LaunchEvents(
                    json: false,
                    store: "/var/lib/app",
                    out: console,
                    errors: console,
                    journal: SystemJournal(path: path)
                )
                events.take(.nothingInstalled)
                events.take(.damaged(["a.js", "b\nc.js"]))
            }
        }
        #expect(texts.count == 2 && texts.last?.hasSuffix(#": a.js, b\nc.js"#) == true, "\(texts)")
        let fields = "SYSLOG_IDENTIFIER=patchsync\nPATCHLINE_STORE=/var/lib/app\n"
        #expect(
            journal.next()
                == "MESSAGE=nothing is installed yet\nPRIORITY=6\n\(fields)PATCHLINE_EVENT=nothingInstalled\n"
        )
        #expect(journal.next().hasSuffix("PRIORITY=4\n\(fields)PATCHLINE_EVENT=damaged\n"))
        #expect(SystemJournal(path: path).send([("MESSAGE", "two\nlines"), ("PRIORITY", "6")]))
        #expect(journal.next() == "MESSAGE\n\u{9}\0\0\0\0\0\0\0two\nlines\nPRIORITY=6\n")
    }

    @Test func `of a question stands in the log once, whoever asks it again, until its answer is another`() throws {
        let root = FilePath("/tmp/store-log-\(UInt64.random(in: 0...UInt64.max))")
        try DiskFiles().makeDirectory(root)
        defer { try? DiskFiles().removeTree(root) }
        for isHit in [false, false, true, true, false] {
            var report = DeviceReportTranscripts.synced([])
            report.asked = [EvaluatedRule(Sample.label, .share(2_500), isHit: isHit)]
            // A program of its own each time, as one that is run every hour.
            StoreLogWriter(StoreLog(root), by: "sync", now: { Sample.time }).take(.synced(.success(report)))
        }
        let answers = StoreLog(root).lines().compactMap { $0["data"]?["isHit"] }
        #expect(answers == [.bool(false), .bool(true), .bool(false)])
    }

    @Test func `of a log goes on behind the lines that were seen, also when the oldest are gone`() throws {
        let lines = try (0..<40).map { number in
            try #require(
                LogLine(
                    JSON(
                        parsing: Array(
                            #"{"at":"2026-11-24T08:00:00Z","by":"run","event":"e","text":"\#(number / 2)","type":0}"#
                                .utf8
                        )
                    )
                )
            )
        }
        var tail = LogTail(after: Array(lines.prefix(20)))
        #expect(tail.news(in: Array(lines.prefix(20))).isEmpty)
        #expect(tail.news(in: Array(lines[3..<23])).map(\.text) == ["10", "10", "11"])
        #expect(tail.news(in: Array(lines[30...])).count == 10, "what was seen is gone")
        var first = LogTail(after: [])
        #expect(first.news(in: Array(lines.prefix(2))).count == 2)
    }

    static let tip = InstalledPatch(
        PatchEntry(
            patchID: Sample.script,
            kind: .script,
            version: Sample.version,
            url: "tip",
            fingerprint: Fingerprint(of: [2]),
            signature: EntrySignature(keyID: Sample.digest, bytes: []),
            salt: [],
            rules: .everyone
        ),
        column: nil
    )

    static let web = bundle(Sample.version)

    private static func bundle(_ version: VersionLabel) -> InstalledPatch {
        InstalledPatch(
            PatchEntry(
                patchID: Sample.patch,
                kind: .bundle,
                version: version,
                url: "web",
                fingerprint: Fingerprint(of: [1]),
                signature: EntrySignature(keyID: Sample.digest, bytes: []),
                salt: [],
                rules: .everyone
            ),
            column: nil
        )
    }
}

/// What `run` says besides: of its settings, and with each store's name.
@Suite("What patchsync run tells")
struct DaemonTranscripts {
    @Test func `stands in its transcript, in words and as JSON`() throws {
        var transcript = Transcript("patchsync-run", about: "Lines of patchsync run.")
        var shop = StoreSettings(name: "shop", store: "/var/lib/shop")
        let address = LocalServer.Address(port: 8_081, token: nil, host: LocalServer.Address.sharedHost)
        let busy = Failure(
            "d.yaml:4 there is no setting 'sync'",
            hint: "did you mean sync-every?",
            code: .malformed
        )
        let change = SettingsChange(from: [shop], to: [])
        for json in [false, true] {
            transcript.list(
                json ? "as JSON" : "in words",
                try Written.lines { console in
                    let events = DaemonEvents(json: json, out: console, errors: console)
                    let told: [DeviceEvent] = [
                        .made, .differs(["root of trust (another one of version 1)"]),
                        .follows([
                            "server https://b.example, before https://a.example", "channel beta, before production",
                        ]),
                        .removed, .listening(address),
                        .nothingInstalled,
                        .proxyLine("a server is gone"),
                    ]
                    let faults: [RunnerFault] = [
                        .device(.noStore("/var/lib/shop")),
                        .portTaken(8_081, by: .store("beta")),
                        .portTaken(8_081, by: .program(process: 4_711, name: "python3")),
                        .server(.listener(.portInUse(host: "127.0.0.1", port: 8_081))),
                        .server(.listener(.cannotBind(host: "::1", port: 8_081, reason: "Permission denied"))),
                        .other("no authority"),
                    ]
                    for event in told + faults.map({ .storeFailed(Failure($0)) }) { events.take(event, of: shop) }
                    shop.urlFile = "/nowhere/shop.html"
                    events.take(.listening(address), of: shop)
                    shop.urlFile = nil
                    events.reloaded(change)
                    events.reloaded(SettingsChange(from: [shop], to: [shop]))
                    events.kept(busy)
                    events.unwatched(FileError(.noSpace, .watch, "/etc/patchline"))
                    events.answering(at: "/run/patchline/patchsync.sock")
                    events.unanswering(Failure("no more descriptors"), isTriedAgain: false)
                    events.vanished("/run/patchline/patchsync.sock")
                    events.unanswering(Failure(ControlError.answered("/run/patchline/patchsync.sock")))
                }
            )
        }
        transcript.section(
            "that it does not begin",
            [
                Failure(SettingsOnDisk.Fault.file(.notFound(.read, "/etc/patchline/patchsync.yaml"))),
                Failure(
                    SettingsOnDisk.Fault.settings(DaemonSettingsFault(file: "d.yaml", line: nil, rule: "is not UTF-8"))
                ),
                Failure.servedAlready(store: "/var/lib/shop", by: 4_711, "shop"),
                Failure.servedAlready(store: "/var/lib/shop", by: nil, nil), Failure.servedAlready(by: nil, port: nil),
                Failure(SyncError.notKept(RunCommand.words(of: "shop"))),
            ]
            .map(\.transcript)
        )
        transcript.list(
            "in systemctl status",
            [DaemonSupervisor.status([shop]), DaemonSupervisor.status(keptBecause: busy)]
        )
        try transcript.check()
    }
}
