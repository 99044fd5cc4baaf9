import NIOHTTP1
package import PatchFormat

/// Requests of operators. The answers are returned unchanged.
extension ServiceClient {
    package enum Change: String, Sendable {
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// - Parameter path: The path below `/api/v1`.
    package func look(_ path: String) async throws(ServiceError) -> JSON {
        try Self.json(try await bytes(ServiceRequest(method: .GET, path: "/api/v1\(path)")))
    }

    /// Sends a change once.
    ///
    /// If the answer is lost, the caller must look up the result instead of repeating the change.
    ///
    /// - Returns: null if the service's answer is empty.
    package func change(
        _ change: Change,
        _ path: String,
        _ body: JSON? = nil
    ) async throws(ServiceError) -> JSON {
        let request = ServiceRequest(
            method: .init(rawValue: change.rawValue),
            path: "/api/v1\(path)",
            body: body.map { .json($0) } ?? .none
        )
        return try Self.json(try await once(request))
    }

    /// Whether the caller's token has the role operator, or a higher one, in a channel.
    package func mayOperate(_ channel: ChannelName, of app: AppID) async throws(ServiceError) -> Bool {
        var request = ServiceRequest(method: .GET, path: "/api/v1/whoami")
        request.deadline = .seconds(10)
        let answer = try await jsonOnce(request)
        do throws(FormatError) {
            return Self.mayOperate(channel, of: app, with: try answer.strings("grants", limit: 100_000))
        } catch { throw .malformed(error) }
    }

    /// - Parameter grants: For example `com.example.shop/production=publisher`.
    static func mayOperate(_ channel: ChannelName, of app: AppID, with grants: [String]) -> Bool {
        let scopes = ["*", app.text, "\(app)/\(channel)"]
        return grants.contains { grant in
            scopes.contains { grant == "\($0)=operator" || grant == "\($0)=admin" }
        }
    }

    private static func json(_ bytes: [UInt8]) throws(ServiceError) -> JSON {
        guard !bytes.isEmpty else { return .null }
        do throws(FormatError) {
            return try JSON.document(bytes, named: "answer", limit: ServiceRequest.documentLimit)
        } catch { throw .malformed(error) }
    }
}
