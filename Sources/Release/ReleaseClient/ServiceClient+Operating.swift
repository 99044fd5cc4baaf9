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

    private static func json(_ bytes: [UInt8]) throws(ServiceError) -> JSON {
        guard !bytes.isEmpty else { return .null }
        do throws(FormatError) {
            return try JSON.document(bytes, named: "answer", limit: ServiceRequest.documentLimit)
        } catch { throw .malformed(error) }
    }
}
