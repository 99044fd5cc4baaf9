import HTTPFiles
import NIOHTTP1
import PatchFormat

/// The secret that a page or program exchanges for the cookie: `POST /__patchline/enter`.
///
/// ```
/// { "token": "0f1e2d3c4b5a69788796a5b4c3d2e1f0" }
/// ```
struct TokenExchange: Equatable, Sendable {
    /// The largest request, in bytes.
    static let limit = 1_024

    enum Secret: Equatable, Sendable {
        /// The access token of the app's URL.
        case token(String)
        /// The return key that a page of the app received.
        case key(String)
    }

    let secret: Secret

    init(_ body: [UInt8]) throws(FormatError) {
        let fields = try Fields(try JSON.document(body, named: "request", limit: Self.limit), of: "request")
        try fields.allow(["token", "key"])
        switch (try fields.optionalString("token"), try fields.optionalString("key")) {
        case (let token?, nil): secret = .token(token)
        case (nil, let key?): secret = .key(key)
        default: throw FormatError("request", field: "", rule: "must have either token or key")
        }
    }

    /// Whether the secret grants access to this server.
    func opens(_ access: Access) -> Bool {
        switch secret {
        case .token(let text): access.token?.matches(text) ?? true
        case .key(let text): access.returnKey?.matches(text) ?? true
        }
    }

    /// - Parameter cookie: The `Set-Cookie` of the present session. Nil if every program has access.
    static func granted(_ cookie: String?) -> FileAnswer {
        .bytes(
            ServedBytes(
                status: .noContent,
                bytes: [],
                contentType: "text/plain",
                cacheControl: "no-store",
                headers: cookie.map { ["Set-Cookie": $0] } ?? [:]
            )
        )
    }

    static let refused = PageAPI.json(.forbidden, "error", "this token or key does not open this app")
}
