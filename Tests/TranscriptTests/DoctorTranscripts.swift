import Linux
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage
import Testing

@testable import PatchCrypto
@testable import PatchTrust

@Suite("What patchsrv doctor says")
struct DoctorTranscripts {
    @Test func `of each thing that it looks at stands in its transcript`() throws {
        var transcript = Transcript("patchsrv-doctor", about: "What patchsrv doctor finds, and what it advises.")
        let findings: [(String, [Diagnosis.Line])] = [
            ("the disk", disk), ("the clock", clock), ("the folder", folder), ("the lock", lock), ("keys", keys),
            ("roles", try roles()), ("labels", labels), ("TLS", tls), ("the port", port),
        ]
        for (title, lines) in findings {
            transcript.list(
                title,
                lines.map { "\($0.verdict) \($0.subject): \($0.finding)" + ($0.hint.map { " (\($0))" } ?? "") }
            )
        }
        try transcript.check()
    }

    private let disk: [Diagnosis.Line] = [
        .disk(DiskSpace(freeBytes: 5_000_000_000, freeFiles: nil), freeText: "5 GB"),
        .disk(DiskSpace(freeBytes: 500_000_000, freeFiles: nil), freeText: "500 MB"),
        .disk(DiskSpace(freeBytes: 50_000_000, freeFiles: nil), freeText: "50 MB"),
        .disk(DiskSpace(freeBytes: 5_000_000_000, freeFiles: 5_000), freeText: "5 GB"),
        .disk(DiskSpace(freeBytes: 5_000_000_000, freeFiles: 1), freeText: "5 GB"),
    ]

    private let clock: [Diagnosis.Line] = [
        .clock(Sample.time, signedAt: nil), .clock(UTCTime(seconds: 0), signedAt: nil),
        .clock(Sample.time, signedAt: Sample.after), .clock(Sample.time, signedAt: nil, build: Sample.after),
        .clock(Sample.time, signedAt: nil, written: Sample.after),
    ]

    private static func file(_ kind: FileStatus.Kind, _ permissions: FilePermissions) -> FileStatus {
        let identity = FileIdentity(device: 1, inode: 1, size: 1, modified: 1, changed: 1)
        return FileStatus(identity: identity, kind: kind, linkCount: 1, permissions: permissions)
    }

    private let folder: [Diagnosis.Line] = [
        .folder(nil, canWrite: false), .folder(file(.directory, .init(rawValue: 0o777)), canWrite: true),
        .folder(file(.directory, .init(rawValue: 0o755)), canWrite: false),
        .folder(file(.directory, .init(rawValue: 0o755)), canWrite: false, isReadOnly: true),
        .folder(file(.directory, .init(rawValue: 0o755)), canWrite: true),
    ]

    private let lock: [Diagnosis.Line] = [
        .lock(nil), .lock(.held(Sample.path, by: 4_711)), .lock(.held(Sample.path, by: nil)),
        .lock(.file(.permission(.lock, Sample.path))),
    ]

    private let keys: [Diagnosis.Line] = [
        .keyFile(of: Sample.app, nil), .keyFile(of: Sample.app, file(.file, .init(rawValue: 0o644))),
        .keyFile(of: Sample.app, file(.file, .init(rawValue: 0o600))),
        .key(of: Sample.app, isEncrypted: true, isNamed: true, fault: "is not a PEM key"),
        .key(of: Sample.app, isEncrypted: false, isNamed: false, fault: nil),
        .key(of: Sample.app, isEncrypted: true, isNamed: false, fault: nil),
        .key(of: Sample.app, isEncrypted: true, isNamed: true, fault: nil),
    ]

    /// A role that ends then.
    static func role(_ name: String, _ expires: UTCTime, _ keeper: RoleExpiry.Keeper = .holders) throws -> RoleExpiry {
        let json = JSON.fields([
            ("_type", .text("targets")), ("spec_version", .text("1.0")), ("version", .integer(7)),
            ("expires", .text(expires.description)),
        ])
        let header = try RoleHeader(Fields(json, of: name), type: "targets")
        return RoleExpiry(role: name, header: header, keeper: keeper)
    }

    private func roles() throws -> [Diagnosis.Line] {
        func app(_ finding: Readiness.Finding, locked: Set<AppID> = []) -> [Diagnosis.Line] {
            let readiness = Readiness(
                [(Sample.app, finding)],
                within: .seconds(90_000),
                locked: locked,
                at: Sample.time
            )
            return readiness.apps.flatMap { Diagnosis.Line.roles(of: $0, at: Sample.time) }
        }
        let due = try [Self.role("production", Sample.before), Self.role("timestamp", Sample.before, .server)]
        return app(.verified(due)) + app(.verified([try Self.role("targets", Sample.time.adding(.seconds(60)))]))
            + app(.verified([try Self.role("root", Sample.time.adding(.seconds(9_000_000)))]))
            + app(.verified(due), locked: [Sample.app]) + app(.unverified(.movedOn(Sample.app)))
    }

    private let labels: [Diagnosis.Line] = [
        .packs(of: Sample.app, count: 3, text: "157 MB"), .labels(of: Sample.app, size: 1_000),
        .labels(of: Sample.app, size: Limits.stateFile),
    ]

    private let tls: [Diagnosis.Line] = [
        .tls(nil, fault: nil, at: Sample.time), .tls(nil, fault: "the key is encrypted", at: Sample.time),
        .tls(Sample.after.seconds...Sample.after.seconds + 1, fault: nil, at: Sample.time),
        .tls(0...Sample.before.seconds, fault: nil, at: Sample.time),
        .tls(0...Sample.after.seconds, fault: nil, at: Sample.time),
        .tls(0...4_000_000_000, fault: nil, at: Sample.time),
    ]

    private let port: [Diagnosis.Line] = [
        .port(8_080, .free), .port(8_080, .ours), .port(8_080, .oursOverOtherScheme(isTLS: true)),
        .port(8_080, .oursOverOtherScheme(isTLS: false)), .port(8_080, .taken),
        .port(80, .unusable("Permission denied")),
    ]
}
