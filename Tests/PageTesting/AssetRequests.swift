package import AssetServer
package import HTTPFiles
package import NIOHTTP1
import PatchTrust
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
