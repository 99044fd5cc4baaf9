import DeviceOutput
import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchSync

/// The problems of the local socket. Their kinds and hints are those of the commands.
extension APIProblem {
    init(_ error: SyncError) { self.init(Failure(error)) }

    /// A value of the request violates a rule.
    static func invalid(_ error: FormatError, hint: String? = nil) -> APIProblem {
        APIProblem(400, "\(ResultCode.usage)", error.description, hint: hint, code: .usage)
    }

    static let noSuchResource = APIProblem(
        404,
        "notFound",
        "there is nothing here",
        hint: "GET /v1/openapi.json lists all requests."
    )

    static let noSuchStore = APIProblem(
        404,
        "notFound",
        "no store has this name",
        hint: "GET /v1 names them."
    )

    static func notAllowed(_ methods: [String]) -> APIProblem {
        let allow = methods.joined(separator: ", ")
        return APIProblem(405, "methodNotAllowed", "allowed methods: \(allow)", allow: allow)
    }

    /// A browser cannot connect to a socket, but a proxy in front of it may pass its request on.
    static let fromAPage = APIProblem(
        403,
        "forbidden",
        "a request with an Origin is from a page, and pages may not use this socket",
        hint: "pages use window.patchline instead."
    )

    /// A rejection by the HTTP server itself.
    static func refused(_ message: String, _ status: HTTPResponseStatus) -> APIProblem {
        APIProblem(refused: message, status, kinds: [503: "busy"])
    }
}
