import HTTPCore
package import HTTPFiles
package import NIOHTTP1
import PatchFormat

/// Whether a request is from the app, decided from its head alone, before anything else.
///
/// These rules apply in order. The Host is one of ours. A request that changes state or upgrades has an origin of ours. The query
/// contains the token, or the cookie contains the value exchanged for it.
package enum Admission: Sendable {
    /// The request has access. The token is removed from the query.
    ///
    /// - fields: Additional fields of the response: the cookie.
    case admitted(query: String?, fields: HTTPHeaders)
    /// The request has no cookie. Only a web app manifest of the bundle under its own name is served.
    case manifestOnly(query: String?, closed: FileAnswer)
    /// A request for the cookie, whose body contains the secret.
    case entering
    case answered(FileAnswer)

    package init(_ request: FileRequest, to access: Access, in session: Session) {
        guard let host = Self.host(request.headers, access, session.port) else {
            self = .answered(.refused(.misdirectedRequest, message: Self.otherName(access, session.port), headers: [:]))
            return
        }
        let origin = request.headers.first(name: "Origin")
        let isAllowed = origin.map(access.origins.contains) ?? false
        if isAllowed, request.method == .OPTIONS, request.headers.contains(name: "Access-Control-Request-Method") {
            self = .answered(Self.preflight(request.headers))
            return
        }
        let isOwn = Self.isOwn(request, origin: origin, host: host)
        guard isOwn || isAllowed && !PageAPI.isEntering(request) else {
            self = .answered(.refused(.forbidden, message: "Another site may not do this.", headers: [:]))
            return
        }
        if access.token != nil, PageAPI.isEntering(request) {
            self = .entering
        } else {
            self.init(request, access, session)
        }
    }

    private init(_ request: FileRequest, _ access: Access, _ session: Session) {
        guard let token = access.token else {
            self = .admitted(query: request.query, fields: [:])
            return
        }
        let (given, query) = Self.takeToken(from: request.query)
        let cookie = Access.cookie(port: session.port)
        let isNew = given.contains { token.matches($0) }
        let shown = Self.cookies(cookie, in: request.headers)
        guard isNew || shown.contains(where: { session.pass.matches($0) }) else {
            let closed = Self.closed(isLate: !shown.isEmpty)
            self = request.isForManifest ? .manifestOnly(query: request.query, closed: closed) : .answered(closed)
            return
        }
        var fields: HTTPHeaders = [:]
        // Browsers delete a cookie some time after they last received it.
        if isNew || access.hasOwnHost && request.showsDocument {
            fields.add(name: "Set-Cookie", value: access.cookieField(in: session))
        }
        // The token must not stay in the URL, where a Referer, the history or a screenshot would reveal it.
        if !given.isEmpty, request.isNavigation {
            self = .answered(Self.forwarding(request, query: query, fields))
        } else {
            self = .admitted(query: query, fields: fields)
        }
    }

    /// - Parameter isLate: Whether the request contains a cookie of an ended session or of a replaced token.
    private static func closed(isLate: Bool) -> FileAnswer {
        let what = isLate ? "Only the app has access, and it was restarted" : "Only the app has access"
        return .refused(
            .forbidden,
            message: "\(what): open the URL that contains its access token.",
            headers: ["Cache-Control": "no-store"]
        )
    }

    // MARK: Host and Origin

    /// Returns the Host as sent, in lower case, if it is accepted.
    private static func host(_ headers: HTTPHeaders, _ access: Access, _ port: Int) -> String? {
        guard let host = headers.first(name: "Host")?.lowercased() else { return nil }
        let isOurs = access.hosts.contains { host == "\($0):\(port)" || port == 80 && host == $0 }
        return isOurs ? host : nil
    }

    /// Rejects another host name.
    ///
    /// No response contains the app's own name: a client that learned it could use it for requests.
    private static func otherName(_ access: Access, _ port: Int) -> String {
        let why = "to protect it from pages of other sites"
        guard access.hosts == Access.loopbackHosts else {
            return "This app is served only under its own host name, \(why): open the URL that its server printed."
        }
        let names = access.hosts.map { "\($0):\(port)" }.sorted().joined(separator: ", ")
        return "This app is served only as \(names), \(why)."
    }

    /// A page on another port of our host belongs to the same site, so its requests contain our cookie.
    ///
    /// It may only link to a page of ours.
    private static func isOwn(_ request: FileRequest, origin: String?, host: String) -> Bool {
        // Every browser sends at least one of the two. A program that sends neither has the token.
        let site = request.headers.first(name: "Sec-Fetch-Site")
        let isOfOurs = site == nil || site == "same-origin" || site == "none"
        let isRead = request.method == .GET || request.method == .HEAD
        if isRead, !request.headers.contains(name: "Upgrade") {
            return isOfOurs || request.headers.first(name: "Sec-Fetch-Mode") == "navigate"
        }
        return origin.map { $0.lowercased() == "http://\(host)" } ?? isOfOurs
    }

    /// Returns the fields that a page of another origin needs to read a response, if it has access.
    static func crossOriginFields(for headers: HTTPHeaders, _ access: Access) -> HTTPHeaders {
        guard let origin = headers.first(name: "Origin"), access.origins.contains(origin) else {
            // A cache must not serve one origin a response permitted for another.
            return access.origins.isEmpty ? [:] : ["Vary": "Origin"]
        }
        return [
            "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true", "Vary": "Origin",
            "Cross-Origin-Resource-Policy": "cross-origin",
        ]
    }

    /// The response to a CORS preflight, which contains no cookie.
    private static func preflight(_ headers: HTTPHeaders) -> FileAnswer {
        var fields: HTTPHeaders = ["Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE"]
        let wanted = headers["Access-Control-Request-Headers"].joined(separator: ", ")
        if !wanted.isEmpty { fields.add(name: "Access-Control-Allow-Headers", value: wanted) }
        return .bytes(
            ServedBytes(
                status: .noContent,
                bytes: [],
                contentType: "text/plain",
                cacheControl: "no-store",
                headers: fields
            )
        )
    }

    // MARK: Token

    /// Returns all values of `cdvToken=` in a query, and the query without them.
    package static func takeToken(from query: String?) -> (given: [Substring], query: String?) {
        guard let query else { return ([], nil) }
        let name = "\(Access.parameter)="
        let parts = query.split(separator: "&", omittingEmptySubsequences: false)
        let given = parts.filter { $0.hasPrefix(name) }.map { $0.dropFirst(name.count) }
        guard !given.isEmpty else { return ([], query) }
        let rest = parts.filter { !$0.hasPrefix(name) }.joined(separator: "&")
        return (given, rest.isEmpty ? nil : rest)
    }

    /// Returns the request without the token, for another server.
    static func withoutToken(_ request: FileRequest, port: Int) -> FileRequest {
        let name = "\(Access.cookie(port: port))="
        let kept = request.headers["Cookie"].flatMap { $0.split(separator: ";") }.map { $0.drop { $0 == " " } }
            .filter { !$0.hasPrefix(name) && !$0.isEmpty }
        var headers = request.headers
        headers.remove(name: "Cookie")
        if !kept.isEmpty { headers.add(name: "Cookie", value: kept.joined(separator: "; ")) }
        return request.with(headers: headers)
    }

    private static func cookies(_ name: String, in headers: HTTPHeaders) -> [Substring] {
        headers["Cookie"].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let pair = pair.drop { $0 == " " }
            return pair.hasPrefix("\(name)=") ? pair.dropFirst(name.count + 1) : nil
        }
    }

    /// Redirects to the same page without the token.
    ///
    /// A strict cookie is not sent on a redirect that began at another site. The page then forwards by itself.
    private static func forwarding(_ request: FileRequest, query: String?, _ fields: HTTPHeaders) -> FileAnswer {
        // A name such as `a%2Fb` would be another one if it were encoded again.
        let location = request.spelledPath + (query.map { "?\($0)" } ?? "")
        var fields = fields
        fields.add(name: "Cache-Control", value: "no-store")
        let site = request.headers.first(name: "Sec-Fetch-Site")
        guard site == "cross-site" || site == "same-site" else {
            fields.add(name: "Location", value: location)
            return .refused(.seeOther, message: "Continue to \(location)", headers: fields)
        }
        fields.add(name: "Refresh", value: "0; url=\(location)")
        return .bytes(
            ServedBytes(bytes: [], contentType: "text/html; charset=utf-8", cacheControl: "no-store", headers: fields)
        )
    }
}

extension FileRequest {
    /// Whether this may be a browser's request for the manifest of a page, which Chromium sends without a cookie.
    ///
    /// A request that a service worker passes on has lost its destination.
    fileprivate var isForManifest: Bool {
        (method == .GET || method == .HEAD)
            && ["manifest", "empty"].contains(headers.first(name: "Sec-Fetch-Dest"))
            && headers.first(name: "Sec-Fetch-Site") == "same-origin"
    }

    /// Whether a browser requests a document to show, at the top level or in a frame.
    ///
    /// Browsers that do not send a destination request HTML by its type.
    var isNavigation: Bool {
        guard method == .GET || method == .HEAD else { return false }
        if let mode = headers.first(name: "Sec-Fetch-Mode") { return mode == "navigate" }
        return headers.acceptedTypes.contains("text/html")
    }
}
