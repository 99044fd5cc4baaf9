package import HTTPCore
import HTTPFiles
import NIOHTTP1

/// All rules of a device.
///
/// The first rule that matches a path applies.
package struct ProxyRules: Sendable {
    package static let maxRules = 100

    package let rules: [ProxyRule]

    package init(_ rules: [ProxyRule]) {
        self.rules = rules
    }

    package func rule(for path: RequestPath) -> ProxyRule? {
        rules.first { $0.pattern.matches(path) }
    }

    /// Returns the rule for a request, whose path is forwarded as it was sent.
    ///
    /// - Throws: If servers may read the path in different ways, and not every reading has this rule.
    func rule(for request: FileRequest) throws(SentPathRefusal) -> ProxyRule? {
        guard let named = rules.firstIndex(where: { $0.pattern.matches(request.path) }) else { return nil }
        let readings: [String]
        do throws(SentPath.Fault) { readings = try request.sentPath.readings() } catch {
            switch error {
            case .dotSegment: throw .dotSegment
            case .controlCharacter: throw .controlCharacter
            }
        }
        for reading in readings where rules.firstIndex(where: { $0.pattern.matches(reading) }) != named {
            throw .ambiguous
        }
        return rules[named]
    }

    /// Returns the path to which cookies of a rule's upstream are limited.
    ///
    /// All upstreams share the device's origin, and with it its cookies. If all rules lead to one server, its cookies need no
    /// limit. Otherwise they are limited to the rule's own prefix, so that no server receives another's cookies.
    func cookiePath(of rule: ProxyRule) -> String {
        if let path = rule.cookiePath { return path }
        let origins = Set(rules.flatMap { $0.upstreams.map(\.origin) })
        let isOneRule = rules.count == 1
        return origins.count == 1 || isOneRule ? "/" : ProxyRule.path(rule.pattern.prefix, slash: false)
    }
}

extension ProxyRules {
    /// Returns an upstream's reference to one of its own resources in a form that the page can follow.
    ///
    /// References to other servers are unchanged. A reference to a path of the upstream without a rule becomes the upstream's own
    /// URL. A path that a browser would read as another host's name (`//evil.example`) is prefixed with `/.`: that is the same
    /// path, and always on this origin.
    func local(_ location: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        switch reference(location, of: upstream, by: rule) {
        case .elsewhere: location
        case .upstream(let url): url
        case .here(let path): Self.readsAsHost(path) ? "/.\(path)" : path
        }
    }

    /// The target of an upstream's reference.
    enum Reference: Equatable {
        /// Another server, or a path relative to the answer's.
        case elsewhere
        /// A path of the upstream that no rule matches.
        case upstream(String)
        /// A path that a rule forwards to this upstream. A browser may read it as a host, see ``readsAsHost(_:)``.
        case here(String)
    }

    func reference(_ location: String, of upstream: Upstream, by rule: ProxyRule) -> Reference {
        guard let path = Self.path(of: location, at: upstream) else { return .elsewhere }
        let parts = Self.pathAndRest(path)
        guard let local = rule.localPath(of: parts.path, at: upstream) else {
            return .upstream(upstream.origin + path)
        }
        // In front of a site, a path that is refused here (`/a%2Fb`) must not reveal the site's inner address either.
        let isAllOfSite = rule.pattern.coversAll && rules.count == 1
        if !isAllOfSite {
            // A browser resolves dot segments itself.
            guard let asked = try? FileRequest(getting: local, headers: [:], keepsEncoded: true),
                let named = (try? self.rule(for: asked)) ?? self.rule(for: asked.path),
                named.upstreams.contains(upstream)
            else { return .upstream(upstream.origin + path) }
        }
        return .here(local + parts.rest)
    }

    /// Whether a browser reads a host name after the first slash.
    ///
    /// Browsers ignore tabs and line ends, and treat `\` as a slash (URL Standard, "relative slash state").
    static func readsAsHost(_ path: String) -> Bool {
        let read = path.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }.dropFirst()
        return read.first == "/" || read.first == "\\"
    }

    /// Returns `Refresh` (`5; url=http://site/x`) with the page's own URL instead of the upstream's.
    func localRefresh(_ value: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        guard let separator = value.firstIndex(where: { $0 == ";" || $0 == "," }) else { return value }
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var rest = value[separator...].dropFirst().drop(while: isSpace)
        if rest.prefix(3).lowercased() == "url" {
            let afterName = rest.dropFirst(3).drop(while: isSpace)
            if afterName.first == "=" { rest = afterName.dropFirst().drop(while: isSpace) }
        }
        let quote = rest.first.flatMap { ["\"", "'"].contains($0) ? $0 : nil }
        if quote != nil { rest = rest.dropFirst() }
        let url = rest.prefix { $0 != quote }
        return value[..<url.startIndex] + local(String(url), of: upstream, by: rule) + value[url.endIndex...]
    }

    /// Returns `Link` (RFC 8288) with the page's own URLs instead of the upstream's: its targets, and quoted parameters such as
    /// `anchor`.
    func localLinks(_ value: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        var (links, rest) = ("", value[...])
        while let start = rest.firstIndex(where: { $0 == "<" || $0 == "\"" }) {
            let isTarget = rest[start] == "<"
            links += rest[...start]
            rest = rest[rest.index(after: start)...]
            let url = rest.prefix { $0 != (isTarget ? ">" : "\"") }
            // A parameter without `//` is text, such as a title.
            let isURL = isTarget || url.contains("//")
            links += isURL ? local(String(url), of: upstream, by: rule) : String(url)
            rest = rest[url.endIndex...]
            if let end = rest.popFirst() { links.append(end) }
        }
        return links + rest
    }

    /// The reference from its first slash on, or nil if it is relative to its own path or on another server.
    private static func path(of location: String, at upstream: Upstream) -> String? {
        let absolute = location.hasPrefix("//") ? "\(upstream.isSecure ? "https" : "http"):\(location)" : location
        if absolute.hasPrefix("/") { return absolute }
        let scheme = absolute.prefix { $0.isLetter }
        let rest = absolute[scheme.endIndex...]
        guard rest.hasPrefix("://") else { return nil }
        let authority = rest.dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let other = Upstream("\(scheme)://\(authority)"), other.origin == upstream.origin else { return nil }
        let path = String(rest[authority.endIndex...])
        return path.hasPrefix("/") ? path : "/\(path)"
    }

    private static func pathAndRest(_ text: String) -> (path: String, rest: String) {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        return (String(path), String(text[path.endIndex...]))
    }
}
