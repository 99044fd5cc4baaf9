import HTTPAPI
import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PatchFormat
import ServerRecords

/// Checks the tokens and rights of requests.
struct APIGate: Sendable {
    /// The limit of requests for one token.
    ///
    /// Bytes of uploads are not counted.
    private static let usual = RateLimiter(1_200, per: .seconds(60))

    private struct Limits: Sendable {
        var usual = APIGate.usual
        /// Counts wrong tokens only, so valid tokens are never delayed.
        var wrong = AddressLimiter(60, ofAll: 1_200)
    }

    private let records: ServerRecords
    private let trustedProxies: TrustedProxies
    private let sinceStart: @Sendable () -> Duration
    private let limits = NIOLockedValueBox(Limits())
    /// The time of each token's last recorded use, for admitted tokens only.
    private let uses = NIOLockedValueBox<[String: UTCTime]>([:])

    init(records: ServerRecords, trustedProxies: TrustedProxies, sinceStart: @escaping @Sendable () -> Duration) {
        self.records = records
        self.trustedProxies = trustedProxies
        self.sinceStart = sinceStart
    }

    /// - Parameter parameters: The parameters of the path.
    /// - Returns: The token of the request, or nil for a route that needs none.
    func admit(
        _ request: FileRequest,
        _ parameters: [String: String],
        to route: OperatorRoute
    ) async throws -> APIToken? {
        if !route.needsToken { return nil }
        let token = try await token(of: request)
        if case .bytes = route.body {} else { try count(token) }
        try check(token, parameters, route)
        await note(token)
        return token
    }

    /// Records the use of a token once an hour, and ignores errors.
    private func note(_ token: APIToken) async {
        let time = records.now()
        let isNew = uses.withLockedValue { uses in
            if let last = uses[token.id], last.adding(ServerRecords.useStep) > time, last <= time { return false }
            uses[token.id] = time
            return true
        }
        if isNew { try? await records.noteUse(of: token) }
    }

    private func token(of request: FileRequest) async throws -> APIToken {
        guard let field = request.headers.combined("Authorization") else {
            throw APIProblem(
                401,
                "unauthorized",
                "a token is needed",
                hint: "send it as Authorization: Bearer plt_…; patchsrv token new makes one"
            )
        }
        let forwarded = request.headers["X-Forwarded-For"]
        let client = LimitedClient(request.remoteAddress, forwarded: forwarded, trusting: trustedProxies)
        func refusal(_ detail: String, hint: String? = nil) -> APIProblem { self.refusal(of: client, detail, hint) }
        let parts = field.split(separator: " ", omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bearer", let text = TokenText(String(parts[1])) else {
            throw refusal("the Authorization field has no token of this server")
        }
        switch try await records.admission(of: text) {
        case .admitted(let token): return token
        case .unknown: throw refusal("this server does not know the token")
        case .expired: throw refusal("the token has expired", hint: "ask an admin for a new one")
        case .revoked: throw refusal("the token was revoked", hint: "ask an admin for a new one")
        }
    }

    private func refusal(of client: LimitedClient, _ detail: String, _ hint: String?) -> APIProblem {
        let wait = limits.withLockedValue { $0.wrong.take(from: client, at: sinceStart()) }
        if let wait {
            return APIProblem(429, "tooManyRequests", "too many wrong tokens were sent", retryAfter: wait)
        }
        return APIProblem(401, "unauthorized", detail, hint: hint)
    }

    private func count(_ token: APIToken) throws(APIProblem) {
        let wait = limits.withLockedValue { $0.usual.take(token.id, at: sinceStart()) }
        if let wait { throw APIProblem(429, "tooManyRequests", "this token sends too many requests", retryAfter: wait) }
    }

    private func check(
        _ token: APIToken,
        _ parameters: [String: String],
        _ route: OperatorRoute
    ) throws(APIProblem) {
        switch route.access {
        case nil, .everybody, .anyone: return
        case .server(let role):
            try token.check(token.grants.roleOnEverything, is: role, on: "every app", scope: "*")
        case .app(let role):
            let app = try Self.app(in: parameters)
            if route.pathParameters.contains("channel") {
                guard let channel = parameters["channel"].flatMap({ ChannelName($0) }) else {
                    throw .badRequest("channel \(ChannelName.rule)", rule: ChannelName.rule)
                }
                try token.check(role, on: app, in: channel)
            } else if role == .viewer {
                // The published files of an app are signed as a whole, so a token for one channel may read them too.
                try token.check(token.grants.role(somewhereIn: app), is: role, on: app.text)
            } else {
                try token.check(token.grants.role(on: app), is: role, on: app.text)
            }
        case .release(let role):
            let app = try Self.app(in: parameters)
            try token.check(token.grants.role(somewhereIn: app), is: role, on: app.text)
        }
    }

    private static func app(in parameters: [String: String]) throws(APIProblem) -> AppID {
        guard let app = parameters["app"].flatMap({ AppID($0) }) else {
            throw .badRequest("app \(AppID.rule)", rule: AppID.rule)
        }
        return app
    }
}

extension APIToken {
    /// The command that makes a token with this right.
    static func hint(_ role: AccessRole, on scope: String) -> String {
        let grant = scope == "*" ? "'*=\(role.rawValue)'" : "\(scope)=\(role.rawValue)"
        return "where the server runs: `patchsrv token new NAME --grant \(grant) --output NAME.token --data DIR`"
    }

    func check(_ role: AccessRole, on app: AppID, in channel: ChannelName) throws(APIProblem) {
        let isLimited = grants.onlyChannels(of: app)?.isEmpty == false
        try check(
            grants.role(on: app, in: channel),
            is: role,
            on: isLimited ? "\(app)/\(channel)" : app.text,
            scope: "\(app)/\(channel)"
        )
    }

    /// - Parameter scope: The narrowest scope of a grant that suffices, or nil if it is the place.
    fileprivate func check(
        _ has: AccessRole?,
        is needed: AccessRole,
        on place: String,
        scope: String? = nil
    ) throws(APIProblem) {
        if let has, has >= needed { return }
        throw APIProblem(
            403,
            "forbidden",
            "this needs the role \(needed.rawValue) on \(place); the token \"\(name)\" has "
                + (has.map { "the role \($0.rawValue)" } ?? "none"),
            hint: Self.hint(needed, on: scope ?? place)
        )
    }
}
