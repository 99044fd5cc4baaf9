package import AssetServer
import HTTPCore
package import HTTPFiles
package import NIOHTTP1
import PatchCrypto
package import SystemPackage

extension FileSource {
    /// What it answers at once; nil for what it answers later.
    package func prepared(_ request: FileRequest) -> PreparedReply? {
        if case .now(let reply) = decide(request) { reply } else { nil }
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        await decide(request).answer(to: request)
    }
}

extension AssetServer {
    package static let port = 12_552
    package static let host = ("Host", "127.0.0.1:12552")

    /// One that lets everybody in.
    package static func open(www: FilePath? = nil, localFiles: FilePath? = nil) -> AssetServer {
        var settings = Settings(access: Access(token: nil, under: .shared))
        settings.www = www
        settings.localFiles = localFiles
        let server = AssetServer(settings)
        server.listening(on: port)
        return server
    }

    package func get(_ target: String, _ fields: (String, String)..., method: HTTPMethod = .GET) async throws
        -> FileAnswer
    {
        await answer(try request(target, fields, method: method))
    }
}

extension AssetServer {
    /// Sends a call below `/__patchline/`, as a page of this origin does.
    ///
    /// - Returns: the status and the body, `200 {"result":"current"}`.
    package func call(_ name: String, _ body: String = "") async throws -> String {
        let asked = try request("/__patchline/\(name)", [("Sec-Fetch-Site", "same-origin")], method: .POST)
        let answer = await answer(asked.with(body: Array(body.utf8)))
        guard let bytes = answer.bytes else { return answer.summary }
        return "\(bytes.status.code) \(String(decoding: bytes.bytes, as: UTF8.self))".replacing("\n", with: "")
    }

    /// Navigates there as a browser does; a document with a release stamp reports that it is shown.
    @discardableResult
    package func show(_ target: String) async throws -> FileAnswer {
        let page = try await get(target, ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate"))
        if let stamp = page.bytes?.headers.first(name: ReleaseStamp.field) {
            _ = try await call("shown", #"{"page":"\#(stamp)","age":10}"#)
        }
        return page
    }
}

extension String {
    /// A page without the release stamp that the device put into it.
    package var withoutStamp: String {
        replacing(#/<script data-patchline=.*?</script>/#.dotMatchesNewlines(), with: "")
    }
}

/// A request of the server's own host.
package func request(_ target: String, _ fields: [(String, String)] = [], method: HTTPMethod = .GET) throws
    -> FileRequest
{
    let parts = target.split(separator: "?", maxSplits: 1)
    return FileRequest(
        method: method,
        path: try RequestPath(parsing: target),
        query: parts.count > 1 ? String(parts[1]) : nil,
        headers: HTTPHeaders(fields + (fields.contains { $0.0 == "Host" } ? [] : [AssetServer.host]))
    )
}

extension FileAnswer {
    /// `app/main.js` below the bundle's folder; a status for what is refused.
    package var summary: String {
        switch self {
        case .file(let file):
            let path = file.path.string
            return path.hasPrefix("/bundles/1/") ? String(path.dropFirst(11)) : path
        case .bytes(let bytes): return "\(bytes.status.code) bytes"
        case .files: return "files"
        case .stream(let stream): return "\(stream.status.code) stream"
        case .tunnel: return "tunnel"
        case .refused(let status, _, _): return "\(status.code)"
        }
    }

    package var file: ServedFile? {
        if case .file(let file) = self { file } else { nil }
    }

    package var bytes: ServedBytes? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }
}
