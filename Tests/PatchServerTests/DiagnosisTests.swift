import Linux
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage
import ServerTesting
import Testing

@Suite("A diagnosis")
struct DiagnosisTests {
    private let now = TestingServer.start
    private let app = ReleaseFactory.app

    private func status(_ mode: CInterop.Mode, _ kind: FileStatus.Kind = .file) -> FileStatus {
        let identity = FileIdentity(device: 1, inode: 1, size: 0, modified: 0, changed: 0)
        return FileStatus(identity: identity, kind: kind, linkCount: 1, permissions: FilePermissions(rawValue: mode))
    }

    @Test(arguments: [
        (free: 50_000_000, files: nil, verdict: Diagnosis.Verdict.fault), (500_000_000, nil, .warning),
        (1_500_000_000, nil, .warning), (30_000_000_000, nil, .ok), (30_000_000_000, 5_000, .warning),
        (30_000_000_000, 5, .fault), (30_000_000_000, 1_000_000, .ok),
    ])
    func `warns of little room before there is none`(free: Int, files: Int?, verdict: Diagnosis.Verdict) {
        let space = DiskSpace(freeBytes: free, totalBytes: 100_000_000_000, freeFiles: files)
        let line = Diagnosis.Line.disk(space, freeText: "")
        #expect(line.verdict == verdict && (line.hint == nil) == (verdict == .ok))
    }

    @Test
    func `finds a clock that is behind what was signed, or in another decade`() {
        #expect(Diagnosis.Line.clock(now, signedAt: nil).verdict == .ok)
        #expect(Diagnosis.Line.clock(now, signedAt: now.adding(.seconds(30))).verdict == .ok)
        #expect(Diagnosis.Line.clock(now, signedAt: now.adding(.hours(2))).verdict == .fault)
        #expect(Diagnosis.Line.clock(UTCTime(seconds: 1_000_000), signedAt: nil).verdict == .fault)
        let written = Diagnosis.Line.clock(now, signedAt: now, written: now.adding(.days(3_650)))
        #expect(written.verdict == .fault && written.hint?.contains("patchsrv audit accept-clock") == true)
        #expect(Diagnosis.Line.clock(now, signedAt: now, written: now).verdict == .ok)
    }

    @Test
    func `finds a folder that others may change, and one that is not there`() {
        #expect(Diagnosis.Line.folder(status(0o755, .directory), canWrite: true).verdict == .ok)
        #expect(Diagnosis.Line.folder(status(0o777, .directory), canWrite: true).verdict == .fault)
        #expect(Diagnosis.Line.folder(status(0o755, .directory), canWrite: false).verdict == .warning)
        #expect(Diagnosis.Line.folder(nil, canWrite: false).verdict == .fault)
        #expect(Diagnosis.Line.folder(status(0o755), canWrite: true).verdict == .fault)
    }

    @Test
    func `finds a key file that others can read, and a key that is open`() {
        #expect(Diagnosis.Line.keyFile(of: app, status(0o600)).verdict == .ok)
        #expect(Diagnosis.Line.keyFile(of: app, status(0o640)).verdict == .fault)
        #expect(Diagnosis.Line.keyFile(of: app, nil).verdict == .fault)
        #expect(Diagnosis.Line.key(of: app, isEncrypted: true, isNamed: false, fault: nil).verdict == .ok)
        #expect(Diagnosis.Line.key(of: app, isEncrypted: false, isNamed: false, fault: nil).verdict == .warning)
        #expect(Diagnosis.Line.key(of: app, isEncrypted: true, isNamed: true, fault: "no").verdict == .fault)
    }

    @Test
    func `says of a port whether patchsrv is behind it, and in which way`() {
        func line(_ found: Diagnosis.Line.Port) -> String {
            let line = Diagnosis.Line.port(443, found)
            return "\(line.verdict.rawValue): \(line.finding)"
        }
        #expect(line(.ours) == "ok: 443 is served by patchsrv")
        #expect(line(.oursOverOtherScheme(isTLS: true)) == "ok: 443 is served by patchsrv, over HTTPS")
        #expect(line(.oursOverOtherScheme(isTLS: false)) == "warning: 443 is served by patchsrv without TLS")
        #expect(line(.taken) == "fault: another program listens on 443")
    }

    @Test
    func `names who holds the lock`() {
        let held = Diagnosis.Line.lock(.held("/srv/lock", by: 42))
        #expect(held.verdict == .warning && held.finding == "held by process 42")
        #expect(Diagnosis.Line.lock(nil).verdict == .ok)
        #expect(Diagnosis.Line.lock(.file(.permission(.lock, "/srv/lock"))).verdict == .fault)
    }

    @Test(arguments: [
        (from: -10, to: 100, verdict: Diagnosis.Verdict.ok), (-10, 13, .warning), (-10, -1, .fault), (1, 100, .fault),
    ])
    func `warns two weeks before a certificate ends`(from: Int, to: Int, verdict: Diagnosis.Verdict) {
        let validity = now.adding(.days(from)).seconds...now.adding(.days(to)).seconds
        #expect(Diagnosis.Line.tls(validity, fault: nil, at: now).verdict == verdict)
    }

    @Test
    func `has a line for each role that is due, and one for a tree that does not verify`() throws {
        let server = try TestingServer()
        func app(at time: UTCTime) throws -> Readiness.App {
            let expiries = try PublishedState(of: server.repository).expiries
            return try #require(
                Readiness([(self.app, .verified(expiries))], within: .days(30), at: time).apps.first
            )
        }
        #expect(Diagnosis.Line.roles(of: try app(at: now), at: now).map(\.verdict) == [.ok])
        let soon = now.adding(.days(6))
        #expect(Diagnosis.Line.roles(of: try app(at: soon), at: soon).map(\.verdict) == [.warning, .warning])
        let later = now.adding(.days(13))
        #expect(Diagnosis.Line.roles(of: try app(at: later), at: later).map(\.verdict) == [.fault, .fault, .warning])
        let late = now.adding(.days(15))
        #expect(Diagnosis.Line.roles(of: try app(at: late), at: late).map(\.verdict) == [.fault, .fault, .fault])
        let broken = try #require(
            Readiness([(self.app, .unverified(.unknownApp(self.app)))], within: .days(30), at: now).apps.first
        )
        #expect(Diagnosis.Line.roles(of: broken, at: now).map(\.verdict) == [.fault])
    }

    @Test
    func `is as bad as its worst line`() {
        var diagnosis = Diagnosis()
        #expect(diagnosis.verdict == .ok)
        for verdict in [Diagnosis.Verdict.ok, .warning, .fault, .ok] { diagnosis.add(.init("it", verdict, "is")) }
        #expect(diagnosis.verdict == .fault)
    }
}
