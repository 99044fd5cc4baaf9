import FoundationEssentials
import HTTPFiles
import NIOConcurrencyHelpers
import PatchServer
import PatchStore
import Subprocess
import SystemPackage
import ServerTesting
import Testing

@Suite("A certificate that is renewed while a server serves", .timeLimit(.minutes(20)))
struct CertificateRenewalTests {
    /// A certificate and a key as files, a clock, and what was reported.
    private final class Fixture: Sendable {
        let folder: TemporaryFolderBox
        let clock = TestingClock()
        let nudge: AsyncStream<Void>.Continuation
        let reports: AsyncStream<CertificateReading>
        let renewal: CertificateRenewal<TestingClock>

        init() async throws {
            folder = try TemporaryFolderBox()
            let (certificate, key) = (folder.path.appending("server.crt"), folder.path.appending("server.key"))
            try await Fixture.make(days: 3, in: folder.path)
            let (nudges, nudge) = AsyncStream.makeStream(of: Void.self)
            let (reports, report) = AsyncStream.makeStream(of: CertificateReading.self)
            (self.nudge, self.reports) = (nudge, reports)
            renewal = try CertificateRenewal(
                every: .seconds(60),
                clock: clock,
                nudges: nudges,
                files: { [certificate, key].map { try? DiskFiles().identity(of: $0) } },
                load: {
                    let certificates = try DiskFiles().read(certificate, limit: 10_000)
                    return try TLSIdentity(certificates: certificates, key: try DiskFiles().read(key, limit: 10_000))
                },
                report: { report.yield($0) }
            )
        }

        var days: Int { (renewal.identity.current.validity.count - 1) / 86_400 }

        /// Another pair, in place of the one that is there or of one half of it.
        static func make(days: Int, in folder: FilePath, onlyCertificate: Bool = false) async throws {
            let made = try await Subprocess.run(
                .name("openssl"),
                arguments: Arguments([
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=localhost",
                    "-nodes", "-days", "\(days)", "-keyout",
                    folder.appending(onlyCertificate ? "other.key" : "server.key").string,
                    "-out", folder.appending("server.crt").string,
                ]),
                output: .discarded,
                error: .discarded
            )
            try #require(made.terminationStatus.isSuccess)
        }

        func report() async -> CertificateReading? { await reports.first { _ in true } }

        /// How long it sleeps, once it does.
        func slept() async -> Duration? { await clock.sleeps.first { _ in true } }

        func running(_ body: () async throws -> Void) async throws {
            let task = Task { try await renewal.run() }
            _ = await slept()
            try await body()
            task.cancel()
            try await task.value
        }
    }

    @Test
    func `is shown after the next look at its files, and read only when they changed`() async throws {
        let fixture = try await Fixture()
        #expect(fixture.days == 3)
        try await fixture.running {
            fixture.clock.wakeAll()
            #expect(await fixture.slept() == .seconds(60))
            try await Fixture.make(days: 5, in: fixture.folder.path)
            fixture.clock.wakeAll()
            // The first look reported nothing.
            let until = try #require(await fixture.report())
            #expect(fixture.days == 5 && until == .renewed(until: fixture.renewal.identity.current.validity.upperBound))
        }
    }

    @Test
    func `is shown at once when the server is told to look`() async throws {
        let fixture = try await Fixture()
        try await fixture.running {
            try await Fixture.make(days: 5, in: fixture.folder.path)
            fixture.nudge.yield()
            _ = await fixture.report()
            #expect(fixture.days == 5)
        }
    }

    @Test
    func `is not shown before it is whole and has its key, which is said once`() async throws {
        let fixture = try await Fixture()
        try await fixture.running {
            try await Fixture.make(days: 5, in: fixture.folder.path, onlyCertificate: true)
            fixture.clock.wakeAll()
            #expect(await fixture.report() == .kept("mismatch"))
            _ = await fixture.slept()
            fixture.clock.wakeAll()
            _ = await fixture.slept()
            #expect(fixture.days == 3)
            let certificate = fixture.folder.path.appending("server.crt")
            let half = try DiskFiles().read(certificate, limit: 10_000).prefix(200)
            try Data(half).write(to: URL(filePath: certificate.string))
            fixture.clock.wakeAll()
            #expect(await fixture.report() == .kept("noCertificate"))
            #expect(fixture.days == 3)
            try await Fixture.make(days: 7, in: fixture.folder.path)
            _ = await fixture.slept()
            fixture.clock.wakeAll()
            guard case .renewed = await fixture.report() else {
                Issue.record("was not renewed")
                return
            }
            #expect(fixture.days == 7)
        }
    }
}
