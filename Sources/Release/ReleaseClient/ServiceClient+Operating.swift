import NIOHTTP1
package import PatchFormat

/// What operators ask of a service, as the service answers it.
extension ServiceClient {
    package enum Change: String, Sendable {
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// - Parameter path: below `/api/v1`.
    package func look(_ path: String) async throws(ServiceError) -> JSON {
        try Self.json(try await bytes(ServiceRequest(method: .GET, path: "/api/v1\(path)")))
    }

    /// Asked once: what a lost answer said is to be looked at, not asked for again.
    ///
    /// - Returns: null where the service has nothing to say.
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

    private static func json(_ bytes: [UInt8]) throws(ServiceError) -> JSON {
        guard !bytes.isEmpty else { return .null }
        do throws(FormatError) {
            return try JSON.document(bytes, named: "answer", limit: ServiceRequest.documentLimit)
        } catch { throw .malformed(error) }
    }
}
