package import HTTPCore
package import PatchCompression

/// Why a fetch failed.
package enum FetchError: Error, Equatable, Sendable {
    case notFound(String)
    /// Any answer other than 200, or 206 to a range.
    case status(String, code: Int)
    /// 429 or 503, with the time that the server asks to wait before the next try.
    case busy(String, code: Int, retryAfter: RetryAfter)
    /// A redirect to another server, or one too many. A device only uses its own servers.
    case redirected(String, to: String)
    /// More bytes than the caller allows. The rest was not read.
    case tooLarge(String, limit: Int)
    /// Fewer bytes than the server announced.
    case short(String)
    /// Not complete at its deadline, even if bytes kept arriving.
    case timedOut(String)
    /// No byte for as long as a server may be silent.
    case stalled(String)
    /// No connection, or a broken one.
    case connection(String, reason: String)
    /// The server's name could not be resolved to an address.
    case noAddress(host: String)
    case tls(TLSFault)
    /// An answer that HTTP does not allow.
    case answer(String, AnswerFault)
    /// A content coding that was not requested and that the device cannot decode.
    case encoded(String, as: String)
    /// A compressed form that cannot be decoded to the file. The plain file is requested instead.
    case badForm(String, CompressionError)
    /// A web page instead of the file: a captive portal's, or an error page with status 200.
    case webPage(String)
    /// A captive portal or a proxy answered instead of the server.
    case intercepted(String, Interception)
    /// The receiver of the bytes rejected them or could not store them.
    case notTaken(String, reason: String)
    /// The whole sync took longer than allowed, in seconds.
    case syncDeadline(seconds: Int)
    /// The version being downloaded is no longer the newest.
    case newerList
    case cancelled
}

extension FetchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound(let path): "\(path): not found on the server (404)"
        case .status(let path, let code): "\(path): the server answered \(code)"
        case .busy(let path, let code, let seconds):
            "\(path): the server answered \(code) and asks to retry after \(seconds) s"
        case .redirected(let path, let target): "\(path): the server redirects to \(target), which is not followed"
        case .tooLarge(let path, let limit): "\(path): larger than the allowed \(limit) bytes"
        case .short(let path): "\(path): the answer ended early"
        case .timedOut(let path): "\(path): not complete within the deadline"
        case .stalled(let path): "\(path): the server stopped sending"
        case .connection(let path, let reason): "\(path): \(reason)"
        case .noAddress(let host): "the name service has no address for \(host)"
        case .tls(let fault): fault.description
        case .answer(let path, let fault): "\(path): the server's answer \(fault)"
        case .encoded(let path, let coding): "\(path): compressed as \(coding), which was not requested"
        case .badForm(let path, let error): "\(path): \(error)"
        case .webPage(let path): "\(path): the server sent a web page in its place"
        case .intercepted(let path, let sign): "\(path): \(sign)"
        case .notTaken(let path, let reason): "\(path): \(reason)"
        case .syncDeadline(let seconds): "the sync did not finish within \(seconds) s; downloaded data is kept"
        case .newerList: "a newer list exists"
        case .cancelled: "cancelled; downloaded data is kept"
        }
    }

    /// Whether the network path failed rather than the server's content.
    ///
    /// Then another try helps (J11).
    package var isNetwork: Bool {
        switch self {
        case .short, .timedOut, .stalled, .connection, .noAddress, .busy, .webPage, .intercepted, .syncDeadline:
            true
        case .status(_, let code): code >= 500 || code == 408 || code == 429
        case .notFound, .redirected, .tooLarge, .tls, .answer, .encoded, .badForm,
            .notTaken, .newerList, .cancelled:
            false
        }
    }

    /// Whether another network may avoid the error: a portal or a proxy that answers TLS has its own certificate.
    package var mayBeOfThisNetwork: Bool {
        switch self {
        case .tls(.wrongHostName), .tls(.unknownIssuer), .tls(.pinMismatch), .tls(.notTLS), .tls(.handshake): true
        default: isNetwork
        }
    }

    /// Whether the server sent or announced bytes that are not signed, or answered in a way that HTTP does not allow.
    package var isServerFault: Bool {
        switch self {
        // Some servers compress every file, even if it becomes larger. The bytes are correct.
        case .badForm(_, .notSmaller): false
        case .tooLarge, .answer, .encoded, .badForm: true
        case .notFound, .status, .busy, .redirected, .short, .timedOut, .stalled, .connection, .noAddress, .tls,
            .webPage, .intercepted, .notTaken,
            .syncDeadline, .newerList, .cancelled:
            false
        }
    }
}
