import PatchFormat

/// Why bytes did not come.
package enum FetchError: Error, Equatable, Sendable {
    case notFound(String)
    /// Any other answer than 200 (or 206 to a range).
    case status(String, code: Int)
    /// More bytes than the caller allows; the rest was not read.
    case tooLarge(String, limit: Int)
    /// Fewer bytes than the server announced.
    case short(String)
    case timedOut(String)
    /// No connection, or one that broke.
    case connection(String, reason: String)
    /// The receiver of the bytes refused them or could not keep them.
    case notTaken(String, reason: String)
    case cancelled
}

extension FetchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let path): "\(path): not found on the server (404)"
        case .status(let path, let code): "\(path): the server answered \(code)"
        case .tooLarge(let path, let limit): "\(path): more than the \(limit) bytes that are allowed"
        case .short(let path): "\(path): the answer ended early"
        case .timedOut(let path): "\(path): no answer within the deadline"
        case .connection(let path, let reason): "\(path): \(reason)"
        case .notTaken(let path, let reason): "\(path): \(reason)"
        case .cancelled: "cancelled"
        }
    }

    /// Whether the way to the server is at fault, not what lies there.
    package var isNetwork: Bool {
        switch self {
        case .short, .timedOut, .connection: true
        case .status(_, let code): code >= 500
        case .notFound, .tooLarge, .notTaken, .cancelled: false
        }
    }
}

/// Where bytes come from: a server, a folder, a test's simulator.
package protocol Fetcher: Sendable {
    /// Hands over the bytes of `path` (below `/APP/`) as they come, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - path: `metadata/timestamp.json`; made by ``URLLayout`` only.
    ///   - deadline: for the whole of it.
    func fetch(
        _ path: String,
        limit: Int,
        deadline: Duration,
        receive: (_ chunk: [UInt8]) async throws(FetchError) -> Void
    ) async throws(FetchError)

    /// The bytes of `path`, which need not travel where the server says that they still are the `known` ones.
    func bytes(_ path: String, known: [UInt8], limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8]
}

extension Fetcher {
    package func bytes(_ path: String, limit: Int, deadline: Duration) async throws(FetchError) -> [UInt8] {
        var bytes: [UInt8] = []
        try await fetch(path, limit: limit, deadline: deadline) { bytes += $0 }
        return bytes
    }

    package func bytes(
        _ path: String,
        known: [UInt8],
        limit: Int,
        deadline: Duration
    ) async throws(FetchError) -> [UInt8] {
        try await bytes(path, limit: limit, deadline: deadline)
    }
}

/// How long a device waits, in one place.
package struct Deadlines: Sendable {
    /// One metadata role, list or manifest.
    package var document = Duration.seconds(60)
    /// One object: at least this, and a second for every 10,000 bytes.
    package var object = Duration.seconds(120)

    package init() {}

    func object(of size: Int) -> Duration {
        max(object, .seconds(size / 10_000))
    }
}
