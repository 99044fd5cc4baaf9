import NIOHTTP1
import PatchFormat
import PatchCrypto
import PatchTrust

/// Reads the published tree of one app, file by file.
package struct PublishedTree: Sendable {
    package enum Place: Equatable, Sendable {
        /// The release service, which needs a token.
        case service
        /// The tree itself: the devices' port of a server, or a static host. It needs no token.
        case files
    }

    let app: AppID
    let client: ServiceClient
    var place = Place.service

    func bytes(_ path: String, limit: Int) async throws(ServiceError) -> [UInt8] {
        var request =
            switch place {
            // In a query, a plus means a space.
            case .service: ServiceRequest.service(.GET, app, "/published?path=\(path.replacing("+", with: "%2B"))")
            case .files: ServiceRequest(method: .GET, path: "/\(app)/\(path)")
            }
        request.limit = limit
        return try await client.bytes(request)
    }

    func walked(_ start: MetadataWalk) async throws(ServiceError) -> TrustedRepository {
        var taken: [String: [UInt8]] = [:]
        return try await walked(start, knowing: nil, taken: &taken)
    }

    /// Answers a walk from the known state and from the server's files.
    ///
    /// - Parameter taken: Receives the bytes of each role that was downloaded from the server.
    /// - Throws: `rolledBack` if the timestamp is older than the known one. A device would assume a slow mirror and keep its
    ///   state, but a release signed here must be made from the current one.
    func walked(
        _ start: MetadataWalk,
        knowing known: SeenMetadata?,
        taken: inout [String: [UInt8]]
    ) async throws(ServiceError) -> TrustedRepository {
        var walk = start
        while true {
            switch try mappingErrors({ [walk] () throws(TrustError) in try walk.next() }) {
            case .done(let repository): return repository
            case .recall(let role):
                try mappingErrors { () throws(TrustError) in try walk.recall(known?.bytes(of: role)) }
            case .fetch(let request):
                if let bytes = try await bytes(request) {
                    let outcome = try mappingErrors { () throws(TrustError) in try walk.take(bytes) }
                    if case .older(let offered, let trusted) = outcome {
                        throw .trust(.rolledBack(role: "timestamp", offered: offered, trusted: trusted))
                    }
                    taken[request.role] = bytes
                } else {
                    walk.absent()
                }
            }
        }
    }

    /// The bytes of a role; nil if a later root does not exist.
    private func bytes(_ request: RoleRequest) async throws(ServiceError) -> [UInt8]? {
        guard case .root = request else {
            do throws(ServiceError) { return try await bytes(request.path, limit: request.mostBytes) } catch {
                throw noTree(error, request) ?? error
            }
        }
        do throws(ServiceError) {
            return try await bytes(request.path, limit: request.mostBytes)
        } catch .problem(let problem) where isAbsent(problem) {
            return nil
        }
    }

    /// Object storage may answer 403 for a missing file.
    func isAbsent(_ problem: ServiceProblem) -> Bool {
        problem.status == 404 || (place == .files && problem.status == 403)
    }

    /// The error for a server without this tree.
    ///
    /// The timestamp is the first file of every tree.
    private func noTree(_ error: ServiceError, _ request: RoleRequest) -> ServiceError? {
        guard place == .files, case .timestamp = request, case .problem(let problem) = error, isAbsent(problem)
        else { return nil }
        return .problem(
            ServiceProblem(
                status: 404,
                kind: "noTree",
                detail: "\(client.server) publishes no \(app)",
                hint: "name the devices' address; the operators' port needs a token: --token-file FILE"
            )
        )
    }

    /// A version of a channel's role on the server.
    func envelope(_ channel: ChannelName, version: Int) async throws(ServiceError) -> Envelope {
        let path = URLLayout.metadata(channel.text, version: version)
        return try Self.envelope(try await bytes(path, limit: Limits.targetsRole), channel.text)
    }

    func target(_ path: TargetPath, _ file: TargetFile) async throws(ServiceError) -> [UInt8] {
        let sha256 = try mappingErrors { () throws(TrustError) in try file.requiredSHA256(of: path.text) }
        let bytes = try await bytes(URLLayout.target(path, sha256: sha256), limit: min(file.length, Limits.manifest))
        try mappingErrors { () throws(TrustError) in try file.check(bytes, name: path.text) }
        return bytes
    }

    private static func envelope(_ bytes: [UInt8], _ role: String) throws(ServiceError) -> Envelope {
        do throws(FormatError) { return try Envelope(bytes, role: role, limit: Limits.targetsRole) } catch {
            throw .trust(.malformed(error))
        }
    }
}

func mappingErrors<Value>(_ rule: () throws(TrustError) -> Value) throws(ServiceError) -> Value {
    do throws(TrustError) { return try rule() } catch { throw .trust(error) }
}
