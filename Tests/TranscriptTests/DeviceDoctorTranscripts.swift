import CommandKit
import Linux
import PatchDaemon
import FoundationEssentials
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchSync
@testable import PatchSyncCommand

@Suite("What patchsync doctor says")
struct DeviceDoctorTranscripts {
    private static let findings: [(String, [Diagnosis.Line])] = [
        ("the store", store), ("the disk", disk), ("the clock", clock), ("the root of trust", root),
        ("a proxy", [[], ["https_proxy", "ALL_PROXY"]].compactMap { .proxy($0) }), ("the port", port),
        (
            "watches",
            [
                .watches(areLeft: true, limit: 128), .watches(areLeft: false, limit: 128),
                .watches(areLeft: false, limit: nil),
            ]
        ),
        ("the way to a server", ways), ("a server's answer", answers),
    ]

    @Test func `of each thing that it looks at stands in its transcript, and each code in one line at least`() throws {
        var transcript = Transcript("patchsync-doctor", about: "What patchsync doctor finds, and what it advises.")
        for (title, lines) in Self.findings {
            transcript.list(
                title,
                lines.map { line in
                    "\(line.verdict) \(line.code.map { "\($0) " } ?? "")\(line.subject): \(line.finding)"
                        + (line.hint.map { " (\($0))" } ?? "")
                }
            )
        }
        try transcript.check()
        let lines = Self.findings.flatMap(\.1)
        #expect(Set(lines.compactMap(\.code)) == Set(DoctorCode.allCases.map(\.rawValue)))
        #expect(lines.allSatisfy { ($0.verdict == .ok) == ($0.code == nil) && ($0.hint == nil) == ($0.verdict == .ok) })
    }

    @Test func `has a row for each code on its page, and no other`() throws {
        let page =
            #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
            + "/Sources/Device/Patchline/Patchline.docc/Doctor.md"
        let text = try String(decoding: Data(contentsOf: URL(filePath: page)), as: UTF8.self)
        let rows = text.split(separator: "\n").compactMap {
            $0.firstMatch(of: #/^\| `([A-Za-z]+)` \|/#).map { String($0.1) }
        }
        #expect(rows.filter { $0 != "code" } == DoctorCode.allCases.map(\.rawValue))
    }

    private static func folder(_ permissions: CInterop.Mode) -> FileStatus {
        let identity = FileIdentity(device: 1, inode: 1, size: 1, modified: 1, changed: 1)
        return FileStatus(
            identity: identity,
            kind: .directory,
            linkCount: 1,
            permissions: FilePermissions(rawValue: permissions)
        )
    }

    private static let store: [Diagnosis.Line] =
        [
            .store(DeviceConfiguration(app: Sample.app, server: Sample.server, channel: Sample.channel)),
            .settings(Failure("patchsync.yaml:1 names no store")), .store(.noStore("device")),
            .store(.format(Sample.format)), .store(.file(.permission(.read, Sample.path))),
            .folder(folder(0o700), canWrite: true, owner: "patchline"),
            .folder(folder(0o700), canWrite: false, owner: "patchline"),
            .folder(folder(0o700), canWrite: false, isReadOnly: true, owner: "patchline"),
            .folder(folder(0o775), canWrite: true, owner: "patchline"),
            .owners(
                ForeignFiles(count: 2, example: "/srv/device/config.json", owner: "patchline:patchline"),
                in: "/srv/device"
            ),
            .state(nil as StateFault?),
            .state(StateFault(file: Sample.path, error: .format(Sample.format), standby: .previous)),
            .state(SyncError.file(.permission(.read, Sample.path))),
            .machine(isOther: false), .machine(isOther: true),
        ] + [.appBuild(isOther: false), .appBuild(isOther: true)].compactMap(\.self)
        + [
            .sync(nil, at: Sample.time),
            .sync(
                SyncFailure(
                    time: Sample.before,
                    since: Sample.before,
                    inARow: 3,
                    code: .noConnection,
                    text: "metadata/timestamp.json: cannot connect to updates.example.com:443"
                ),
                at: Sample.time
            ),
            .windows(nil), .windows(.noDatabase("/usr/share/zoneinfo")),
        ].compactMap(\.self)

    private static let disk: [Diagnosis.Line] = [
        .disk(DiskSpace(freeBytes: 5_000_000_000, freeFiles: nil), stored: 20_000_000),
        .disk(DiskSpace(freeBytes: 5_000_000, freeFiles: nil), stored: 20_000_000),
        .disk(DiskSpace(freeBytes: 5_000, freeFiles: nil), stored: 0),
        .disk(
            DiskSpace(freeBytes: 39_000_000, freeFiles: nil),
            stored: 0,
            noRoom: [
                OversizedVersion(
                    content: PatchContent(patchID: Sample.patch, sha256: Sample.digest),
                    label: Sample.label,
                    wait: Sample.noRoom
                )
            ]
        ),
        .disk(DiskSpace(freeBytes: 5_000_000_000, freeFiles: 7), stored: 0),
    ]

    private static func held(rootExpires: UTCTime = Sample.after, signedAt: UTCTime? = nil) -> Device.HeldTrust {
        Device.HeldTrust(rootVersion: 2, rootExpires: rootExpires, signedAt: signedAt, build: Sample.before)
    }

    private static let clock: [Diagnosis.Line] = [
        .clock(Sample.time, nil, clockTime: nil),
        .clock(Sample.time, held(signedAt: Sample.time), clockTime: Sample.time),
        .clock(Sample.time, held(signedAt: Sample.after), clockTime: Sample.after),
        .clock(UTCTime(seconds: 0), held(), clockTime: nil), .clock(Sample.time, held(), clockTime: Sample.after),
        .clock(Sample.time, held(), clockTime: Sample.before),
    ]

    private static let root: [Diagnosis.Line] = [
        .root(.success(held()), difference: nil, at: Sample.time),
        .root(.success(held(rootExpires: Sample.before)), difference: nil, at: Sample.time),
        .root(.success(held()), difference: "root of trust (another one of version 2)", at: Sample.time),
        .root(.failure(.file(.notFound(.read, Sample.path))), difference: nil, at: Sample.time),
        .root(.failure(.trust(.threshold(role: "root", valid: 0, needed: 1))), difference: nil, at: Sample.time),
    ]

    private static let port: [Diagnosis.Line] = [
        port(.unused, isNew: true), port(.unused), port(.ours(process: 4_711)),
        .port(0, isNew: true, isInFile: true, .unused), .noPages, port(.another(.unknown)),
        port(.another(.program(process: 7, name: "python3"))), port(.another(.user("ann")), isInFile: true),
        port(.another(.store("beta")), isInFile: true), port(.unusable("Permission denied")),
    ]

    private static func port(
        _ owner: Diagnosis.Line.PageServer,
        isNew: Bool = false,
        isInFile: Bool = false
    ) -> Diagnosis.Line { .port(8_080, isNew: isNew, isInFile: isInFile, owner) }

    private static let both = AddressFamilies(hasV4: true, hasV6: true)

    private static func line(
        _ name: NameAnswer = .addresses(both),
        machine: AddressFamilies = both,
        _ error: SyncError
    ) -> Diagnosis.Line {
        .server(Sample.server, name, machine: machine, .failure(error))
    }

    private static let ways: [Diagnosis.Line] = {
        let error = SyncError.fetch(
            .connection("metadata/timestamp.json", reason: "cannot connect to updates.example.com:443")
        )
        let (v4, v6) = (AddressFamilies(hasV4: true), AddressFamilies(hasV6: true))
        return [
            line(.unknown, error), line(.late, error), line(.addresses(v4), machine: v6, error),
            line(.addresses(v6), machine: v4, error), line(.addresses(both), machine: AddressFamilies(), error),
            line(.addresses(both), machine: v6, error), line(.addresses(v4), machine: both, error),
            // Whoever answered was reached.
            line(.unknown, .fetch(.webPage("metadata/timestamp.json"))),
        ]
    }()

    private static let answers: [Diagnosis.Line] = {
        func behind(signedAt time: UTCTime?) -> StaleMirror {
            StaleMirror(offered: 6, known: 7, signedAt: time, clock: Sample.time)
        }
        let good: [Result<StaleMirror?, SyncError>] = [
            .success(nil), .success(behind(signedAt: Sample.time)), .success(behind(signedAt: nil)),
        ]
        var errors: [SyncError] = FetchError.samples.map { .fetch($0) }
        errors += TrustError.samples.map { .trust($0) }
        errors.append(.file(.noSpace(.write, Sample.path)))
        let lines = good.map { Diagnosis.Line.server(Sample.server, .addresses(both), machine: both, $0) }
        return lines + errors.map { line(.addresses(both), $0) }
    }()
}
