import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchServer
import Testing

@testable import ReleaseAPI

@Suite("Where devices ask")
struct DeviceFrontTests {
    /// What stands for the names in a route's path.
    private static func filled(_ path: String) -> String {
        path.split(separator: "/").map { $0.hasPrefix("{") ? "a" : String($0) }.reduce(into: "") { $0 += "/\($1)" }
    }

    private static func asked(_ front: DeviceFront, _ method: String, _ path: String) async throws -> String {
        let request = FileRequest(method: HTTPMethod(rawValue: method), path: try RequestPath(parsing: path))
        switch await front.decide(request).answer(to: request) {
        case .refused(let status, let message, let headers): return "\(status.code) \(message) \(headers)"
        default: return "was answered"
        }
    }

    @Test func `there is no operator's door: every path of theirs is answered as one that nobody has`() async throws {
        let folder = try RunningOperators.Folder()
        let operations = try folder.operations()
        let routes = try RunningOperators.routes(folder, operations)
        let answers = DeviceAnswers(operations, report: { Issue.record("\($0)") })
        #expect(routes.paths.count > 25 && routes.paths.contains { $0.path == "/healthz" })
        for front in [
            DeviceFront(PublishedTree(folder.server.tree), answers: answers),
            DeviceFront(PublishedTree(folder.server.tree), answers: nil),
        ] {
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
                let nobodys = try await Self.asked(front, method, "/nobody/has/this")
                #expect(nobodys == "404 Not found. ")
                for (path, _) in routes.paths {
                    let path = Self.filled(path)
                    #expect(try await Self.asked(front, method, path) == nobodys, "\(method) \(path)")
                    #expect(front.words(for: "No.", .badRequest, of: path) == nil)
                }
            }
            let timestamp = "/com.example.a/metadata/timestamp.json"
            #expect(try await Self.asked(front, "POST", timestamp).hasPrefix("405 Only GET and HEAD."))
        }
        // What devices ask is in no operator's table.
        #expect(!routes.paths.contains { $0.path.hasSuffix("/answer") })
    }
}
