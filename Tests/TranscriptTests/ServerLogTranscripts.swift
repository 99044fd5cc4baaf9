import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat
import PatchStore
import PatchServer
import SystemPackage
import Testing

@testable import PatchServer
@testable import PatchServerCommand
@testable import ReleaseService
@testable import ServerRecords

@Suite("A server that runs")
struct ServerLogTranscripts {
    @Test func `says in its log what its transcript has`() async throws {
        var log = Transcript("patchsrv-log", about: "What a server says in its log, and why it does not start.")
        let results: [RefreshResult] =
            [.signed(Self.roles), .failed("the disk is full"), .withoutKey, .fresh(signedAt: Sample.time)]
            + ClockBehind.samples.map { .clockBehind($0) }
        log.list("signing again", results.compactMap(\.line).map { "\($0.0.rawValue): \($0.1)" })
        log.list(
            "a locked key",
            try [[], ["--refresh-every", "off"]].flatMap { words in
                let options = try RefreshOptions.parse(words)
                return [true, false].compactMap { options.warning(of: "apps/shop/online.key", hasAPI: $0) }
            }
        )
        let looks: [CertificateReading] = [
            .renewed(until: Sample.after.seconds), .kept("tls.pem contains no certificate"),
        ]
        log.list(
            "certificates",
            looks.map(TLSOptions.line).map { "\($0.0.rawValue): \($0.1)" }
                + [0...1, 4_000_000_000...4_000_000_001].compactMap {
                    TLSOptions.warning(of: $0, "tls.pem", at: Sample.time)
                }
        )
        let key = RecordKey("intent", "5e5e")
        log.list(
            "an earlier run",
            [EarlierRun.unread, .unfinished(key), .uploads].map { $0.stays("the disk is full") }
                + [EarlierRun.settled(history)]
        )
        let folder = ServerFolder("/srv/patchline")
        log.list(
            "the log and the folder",
            [
                ServerLog.notReopened("/var/log/patchsrv.log", FileError.permission(.append, Sample.path)),
                ServerLog.notOpened("/var/log/patchsrv.log", FileError.permission(.append, Sample.path)),
                ServeCommand.unmarked(.readOnly(.create, Sample.path)), overdue(.seconds(10)),
            ]
        )
        log.list("a pack that a device asks for", [PackDemandOptions.notMade(OperationError.busy)])
        log.list("small forms and packs", [OptimizeOptions.notMade(OperationError.busy)])
        let counters = RefreshCounters()
        counters.add(Sample.app, .signed(Self.roles))
        log.list("steps of rollouts", rollouts)
        log.list("a proposal that is overtaken", overtaken.lines)
        log.list("metrics once something was signed", [counters.family.text])
        let broken = ReadinessCheck(ServerFolder("/dev/null"), files: DiskFiles(), within: .zero, now: { Sample.time })
        let page = await OperatorPage.ready(broken)
        log.list("readyz", ["\(page.status) \(String(decoding: page.bytes, as: UTF8.self))"])
        log.section(
            "errors",
            [
                ServeCommand.restores(folder, .held(Sample.path, by: 4_711)), RestoreCommand.served(folder, by: nil),
                RestoreCommand.served(folder, by: 4_711),
                Failure(.unusable(reason: "it is of an unknown version"), certificate: "tls.pem", key: "tls.key"),
                Failure(withoutPermissions: "/media/stick/site"),
                TokenNewCommand.lost("5e5e5e5e5e5e5e5e", .noSpace(.append, "/home/ada/ci.token")),
                TokenRevokeCommand.ambiguous("ci", ["5e5e5e5e5e5e5e5e", "0123456789abcdef"]),
            ].map(\.transcript)
        )
        try log.check()
    }

    private var rollouts: [String] {
        let ramp = RolloutRamp(steps: [100, 2_500, 10_000], every: 21_600)
        let schedule = ramp.flatMap { ramp in
            RolloutSchedule(
                ramp,
                of: Sample.label,
                Sample.digest,
                in: Sample.channel,
                of: Sample.app,
                by: .server,
                at: Sample.time
            )
        }
        guard let schedule else { return [] }
        let results: [RolloutAdvance] = [
            .stepped(schedule.stepped(at: Sample.time)), .stopped(schedule.stopped(.paused, at: Sample.time)),
            .planned(schedule),
            .failed(Sample.app, Sample.channel, .keyIsLocked),
        ]
        return results.map { result in
            let (level, line, _) = RolloutSteps.logLine(result)
            return "\(level.rawValue): \(line)"
        } + [RolloutSteps.unread(.busy)]
    }

    private var overtaken: Proposal {
        let proposal = Proposal(
            id: Sample.named("0123456789abcdef"),
            app: Sample.app,
            channel: Sample.channel,
            change: .withdraw(Sample.patch, version: Sample.version),
            note: nil,
            created: Sample.before,
            actor: .server,
            roleVersion: 6,
            difference: []
        )
        return proposal.overtaken(by: 7, listing: [], at: Sample.time) ?? proposal
    }

    private var history: HistoryEntry {
        HistoryEntry(
            app: Sample.app,
            channel: Sample.channel,
            roleVersion: 7,
            identity: Sample.digest,
            published: Sample.time,
            actor: .server,
            notes: ReleaseNotes(),
            patches: [],
            proposal: nil
        )
    }

    private static let roles = RefreshedVersions(
        app: Sample.app,
        timestamp: 42,
        snapshot: 41,
        dial: 9,
        expires: Sample.after
    )
}
