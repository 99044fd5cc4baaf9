import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import Testing

@testable import ReleaseClient

@Suite("A push", .timeLimit(.minutes(10)))
struct ReleasePushTests {
    @Test func `sends what a server has lost meanwhile, and publishes again`() async throws {
        let service = LosingService(times: 1)
        let report = try await service.push()
        #expect(report.outcome == .published && report.sent.parts == 1)
        #expect(service.asked == ["begin", "publish", "show", "part", "show", "publish"])
    }

    @Test func `with a rollout sends nothing to a server that would offer it to all devices`() async throws {
        let service = LosingService(times: 0)
        await #expect(throws: ServiceError.noRollout) {
            _ = try await service.push(starting: StartingRollout(all: .share(1_000)))
        }
        #expect(service.asked == ["begin"])
    }

    @Test func `to a server that loses it again and again gives up`() async throws {
        let service = LosingService(times: .max)
        let error = await #expect(throws: ServiceError.self) { _ = try await service.push() }
        #expect(error == .endless || (error?.description ?? "").contains("parts are missing"))
        #expect(service.asked.count { $0 == "publish" } <= 9)
    }
}

/// A service that has everything when a push begins, and at the end of it lacks its list so many times.
private final class LosingService: FileSource {
    private struct State {
        var left: Int
        var lacks = false
        var asked: [String] = []
    }

    private let state: NIOLockedValueBox<State>
    private let list = Array("[]".utf8)

    init(times: Int) {
        state = NIOLockedValueBox(State(left: times))
    }

    let acceptsBodies = true
    var asked: [String] { state.withLockedValue(\.asked) }
    private var digest: SHA256Digest { SHA256Digest(of: list) }

    func push(starting rollout: StartingRollout? = nil) async throws -> PushReport {
        let release = try release()
        return try await asked { client throws(ServiceError) in
            try await ReleasePush(release, to: client, files: DiskFiles()).run(
                notes: .fields([]),
                starting: rollout
            )
        }
    }

    private func release() throws -> SignedRelease {
        let app = try #require(AppID("com.example.shop")), channel = try #require(ChannelName("production"))
        return SignedRelease(
            header: ReleaseHeader(app: app, channel: channel, base: nil),
            role: Envelope(role: "production", signing: .fields([])),
            targets: [.patchList(channel): list],
            objects: [:]
        )
    }

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole, answer) }

    private func answer(_ request: FileRequest) -> FileAnswer {
        let last = request.path.segments.last ?? ""
        let isPart = request.path.segments.contains("parts")
        return state.withLockedValue { state in
            switch (request.method, last) {
            case (.PATCH, _):
                (state.lacks, state.left) = (false, state.left - 1)
                state.asked.append("part")
                return Self.json(200, .fields([("offset", .integer(request.body.count))]))
            case (.GET, _) where isPart: return Self.json(200, .fields([("offset", .integer(0))]))
            case (.GET, _):
                state.asked.append("show")
                return Self.json(200, upload(lacking: state.lacks))
            case (_, "publish"):
                state.asked.append("publish")
                state.lacks = state.left > 0
                return state.lacks ? Self.incomplete : Self.json(200, published)
            default:
                state.asked.append("begin")
                return Self.json(201, upload(lacking: false))
            }
        }
    }

    private func upload(lacking: Bool) -> JSON {
        let need = JSON.fields([
            ("name", .text("the list")), ("sha256", .text(digest.hex)), ("size", .integer(list.count)),
        ])
        return .fields([
            ("upload", .text(String(repeating: "0", count: 64))), ("needs", .array(lacking ? [need] : [])),
        ])
    }

    private var published: JSON {
        .fields([
            ("outcome", .text("published")), ("app", .text("com.example.shop")), ("channel", .text("production")),
            ("roleVersion", .integer(1)),
        ])
    }

    private static let incomplete = json(
        409,
        .fields([("title", .text("incomplete")), ("detail", .text("1 parts are missing"))])
    )

    private static func json(_ status: Int, _ json: JSON) -> FileAnswer {
        .bytes(ServedBytes(status: .init(statusCode: status), bytes: json.fileBytes, contentType: "application/json"))
    }
}
