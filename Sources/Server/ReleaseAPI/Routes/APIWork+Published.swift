import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

/// The files for devices, offered here too so that pipelines need only one address.
extension APIWork {
    var aboutPublished: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/apps/{app}/published",
                name: "fetchPublished",
                about: """
                    A signed document as devices receive it, byte for byte; or an object of at most 16 MB, such as a script.
                    """,
                access: .app(.viewer),
                query: [
                    .init(
                        name: "path",
                        about: "Below the app in the published tree; the timestamp by default.",
                        schema: .text("^(metadata|targets|objects)/[A-Za-z0-9._~+/-]{1,1024}$")
                    )
                ],
                answers: [.init(status: 200, about: "The bytes.", schema: nil)],
                work: published
            )
        ]
    }

    @Sendable private func published(_ call: APICall) async throws -> APIAnswer {
        let app = try call.app()
        let path = try call.queryText("path") ?? URLLayout.timestamp
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard let named = TreePath(segments: [app.text] + segments), named.file.isDocument else {
            throw APIProblem.notFound("the tree has no such document")
        }
        guard let bytes = try await operations.published(named.file, of: app) else {
            throw APIProblem.notFound("\(path) is not published")
        }
        return .bytes(bytes)
    }
}

extension TreePath.File {
    fileprivate var isDocument: Bool {
        switch self {
        // Packages for JSPatch's clients are made at the machine with the keys, from scripts that are stored here.
        case .timestamp, .root, .role, .target, .object: true
        case .pack, .basePack, .packIndex, .express, .gateway, .compressed: false
        }
    }
}
