import GatewayClients
import Gateways
import HTTPAPI
import HTTPFiles
import HTTPCore
import NIOHTTP1
import PatchCompression
import PatchDelta
import PatchFetch
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseService
import ServerRecords
import SystemPackage
import Testing

@testable import APIProxy
@testable import PatchSync
@testable import Patchline
@testable import ReleaseAPI

@Suite("What an app and a client are told")
struct LibraryTranscripts {
    @Test func `of each error stands in its transcript`() throws {
        var library = Transcript("library", about: "PatchlineError: the code that an app goes by, and the sentence.")
        library.list("pages", LocalServerError.samples.map { Self.line(PatchlineError($0)) })
        library.list("devices", SyncError.samples.map { Self.line(PatchlineError($0)) })
        library.list("settings", try Self.settings())
        library.list("JSPatch's loader", LoaderClientError.samples.map { Self.line(PatchlineLoader.Failure($0)) })
        library.list("JSPatch's platform", PlatformClientError.samples.map(\.description))
        library.list("what its client keeps", PlatformDecision.Reason.samples.map(\.description))
        try library.check()
    }

    private static func settings() throws -> [String] {
        var crowded = PatchlineApp.Settings()
        crowded.proxyRules = Array(repeating: "/api=https://api.example.com", count: 101)
        var unknown = PatchlineApp.Settings()
        (unknown.proxyRules, unknown.proxyAuthorities) = (["/api=https://api.example.com"], [])
        var mirrored = PatchlineStore.Settings()
        mirrored.mirrors = Array(repeating: "https://mirror.example.com", count: 17)
        let script = PatchlineStore.Script(
            InstalledScript(patch: LaunchTranscripts.web, isPending: false, file: nil),
            files: DiskFiles()
        )
        let origin = PatchlineStore.Origin(server: "https://updates.example.com")
        var lines: [String] = []
        func note(_ body: () throws -> Void) throws {
            do { try body() } catch let error as PatchlineError { lines.append(line(error)) }
        }
        try note { _ = try crowded.proxying }
        try note { _ = try unknown.proxying }
        try note { _ = try mirrored.access }
        try note { try PatchlineStore.make("/nowhere", from: origin) }
        try note { _ = try script.source() }
        return lines
    }

    private static func line(_ error: PatchlineError) -> String { "\(error.code): \(error)" }

    private static func line(_ failure: PatchlineLoader.Failure) -> String {
        "\(failure.domain ?? "-") \(failure.code.map { "\($0)" } ?? "-") \(failure.kind): \(failure)"
    }

    @Test func `of each refusal by the API stands in its transcript`() throws {
        var api = Transcript("api-problems", about: "What the release service answers to what it does not do.")
        api.section("operations", OperationError.samples.map { Self.text(APIProblem($0)) })
        api.section(
            "records",
            RecordError.samples.map { error in Self.text(APIProblem(OperationError.records(error))) }
        )
        api.section("the server", ServerError.samples.map { Self.text(APIProblem($0)) })
        api.section("uploads", UploadError.samples.map { Self.text(APIProblem($0)) })
        try api.check()
    }

    private static func text(_ problem: APIProblem) -> String {
        let rule = problem.rule.map { " (\($0))" } ?? ""
        let wait = problem.retryAfter.map { ", again after \($0) s" } ?? ""
        return "\(problem.status) \(problem.kind)\(rule)\(wait): \(problem.detail)"
            + (problem.hint.map { "\nhint: \($0)" } ?? "")
    }

    @Test func `of a proxied server that gives no answer stands in its transcript`() throws {
        let upstream = try #require(Upstream("https://api.example.com"))
        var proxy = Transcript("proxy", about: "What a page reads when the server behind a proxy rule gives no answer.")
        var lines: [String] = []
        for fault in UpstreamFault.samples {
            guard case .refused(let status, let message, _) = fault.answer(upstream) else { throw NoPage() }
            lines.append("\(status.code) \(message)")
        }
        proxy.list("faults", lines)
        proxy.list("in the log", UpstreamFault.samples.map(\.description))
        try proxy.check()
    }

    private struct NoPage: Error {}
}

extension UpstreamFault: Sampled {
    static let samples: [UpstreamFault] = [
        .busy, .tooManyStreams, .unreachable, .connectTimedOut, .notTrusted, .timedOut, .closed, .malformed,
        .answer(.outOfOrder),
    ]

    var isSampled: Bool {
        switch self {
        case .busy, .tooManyStreams, .unreachable, .connectTimedOut, .notTrusted, .timedOut, .closed, .malformed,
            .answer:
            true
        }
    }
}

extension UploadError: Sampled {
    static let samples: [UploadError] = [
        .operations(.busy), .otherApp(Sample.otherApp), .unknown(id: "5e5e"), .malformed(Sample.format),
        .notWanted(Sample.digest), .inUse(Sample.digest), .wrongOffset(Sample.digest, next: 1_024),
        .tooLong(Sample.digest, size: 10), .badForm(Sample.digest, .incomplete(.zstandard)),
        .badPack(Sample.digest, .trailing), .noBase(Sample.digest),
        .wrongBytes(Sample.digest), .incomplete(missing: 3),
        .tooLarge(bytes: 5_000_000_000, limit: 4_000_000_000), .tooMany(limit: 16),
        .file(.noSpace(.write, Sample.path)),
        .file(.io(.write, Sample.path, .ioError)), .interrupted,
    ]

    var isSampled: Bool {
        switch self {
        case .operations, .otherApp, .unknown, .malformed, .notWanted, .inUse, .wrongOffset, .tooLong, .badForm,
            .badPack, .noBase, .wrongBytes, .incomplete, .tooLarge, .tooMany, .file, .interrupted:
            true
        }
    }
}

extension LoaderClientError: Sampled {
    static var samples: [LoaderClientError] {
        [
            .fetch(.notFound("2.1/v3.zip")), .fetch(.timedOut("2.1/v3.zip")), .fetch(.cancelled),
            .file(.noSpace(.write, "/app/JSPatch/2.1/.new/main.js")),
            .lock(.held("/app/JSPatch/2.1/lock", by: 7)), .record("/app/JSPatch/2.1/version"),
        ] + LoaderError.samples.map { .package($0) }
    }

    var isSampled: Bool {
        switch self {
        case .fetch, .package, .file, .lock, .record: true
        }
    }
}

extension PlatformClientError: Sampled {
    static var samples: [PlatformClientError] {
        [
            .fetch(.timedOut("0a1b2c3d/2.1/file3")),
            .syncFile(FormatError("sync file", field: "g", rule: "must be an integer from 0 to 10")),
            .package(.noKey), .file(.noSpace(.write, "/app/JSPatch/2.1/.new/scripts")),
            .lock(.held("/app/JSPatch/lock", by: 7)),
            .record(FormatError("state of the platform's client", field: "highest", rule: "must not be below version")),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .fetch, .syncFile, .package, .file, .lock, .record: true
        }
    }
}

extension PlatformDecision.Reason: Sampled {
    static var samples: [PlatformDecision.Reason] {
        guard let three = LoaderVersion(3), let four = LoaderVersion(4), let share = PlatformShare(2),
            let draw = PlatformDraw(7)
        else { return [] }
        return [
            .nothingPublished, .alreadyInstalled(four), .paused, .notInShare(share, draw), .conditionMissed,
            .lower(three, than: four),
        ]
    }

    var isSampled: Bool {
        switch self {
        case .nothingPublished, .alreadyInstalled, .paused, .notInShare, .conditionMissed, .lower: true
        }
    }
}
