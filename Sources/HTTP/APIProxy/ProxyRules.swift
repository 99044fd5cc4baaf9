package import HTTPFiles
import NIOHTTP1

/// All rules of a device; the first that names a path is the one for it.
package struct ProxyRules: Sendable {
    package static let maxRules = 100

    package let rules: [ProxyRule]

    package init(_ rules: [ProxyRule]) {
        self.rules = rules
    }

    package func rule(for path: RequestPath) -> ProxyRule? {
        rules.first { $0.pattern.matches(path) }
    }

    /// The rule for a request, whose path is passed on as it was sent.
    ///
    /// - Throws: if servers may read the path in different ways and not every reading has this rule.
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

    /// Which paths a cookie of a rule's upstream may name.
    ///
    /// All upstreams share the device's origin, and with it its cookies. Where all rules lead to one server, nobody else
    /// can get them; else they stay below the rule's own prefix, so that no server gets another's.
    func cookiePath(of rule: ProxyRule) -> String {
        if let path = rule.cookiePath { return path }
        let origins = Set(rules.flatMap { $0.upstreams.map(\.origin) })
        let isOneRule = rules.count == 1
        return origins.count == 1 || isOneRule ? "/" : ProxyRule.path(rule.pattern.prefix, slash: false)
    }
}

extension ProxyRules {
    /// An upstream's reference to one of its own resources, as the page can follow it.
    ///
    /// What leads to other servers stays; what leads to a path of the upstream that no rule names becomes the upstream's
    /// own URL. A path that a browser would read as another host's name (`//evil.example`) begins with `/.` instead: that
    /// is the same path, and always one of this origin.
    func local(_ location: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        switch reference(location, of: upstream, by: rule) {
        case .elsewhere: location
        case .upstream(let url): url
        case .here(let path): Self.readsAsHost(path) ? "/.\(path)" : path
        }
    }

    /// Where an upstream's reference leads.
    enum Reference: Equatable {
        /// To another server, or relative to the path of the answer.
        case elsewhere
        /// To a path of the upstream that no rule names.
        case upstream(String)
        /// To a path that a rule passes on to this upstream. It may read as a host, see ``readsAsHost(_:)``.
        case here(String)
    }

    func reference(_ location: String, of upstream: Upstream, by rule: ProxyRule) -> Reference {
        guard let path = Self.path(of: location, at: upstream) else { return .elsewhere }
        let parts = Self.pathAndRest(path)
        guard let local = rule.localPath(of: parts.path, at: upstream) else {
            return .upstream(upstream.origin + path)
        }
        // In front of a site, also a path that is refused here (`/a%2Fb`) does not lead to the site's inner address.
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

    /// Whether a browser reads a host after the first slash.
    ///
    /// It ignores tabs and line ends, and `\` is a slash to it (URL Standard, "relative slash state").
    static func readsAsHost(_ path: String) -> Bool {
        let read = path.unicodeScalars.filter { !["\t", "\n", "\r"].contains($0) }.dropFirst()
        return read.first == "/" || read.first == "\\"
    }

    /// `Refresh` (`5; url=http://site/x`) with the page's own URL in place of the upstream's.
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

    /// `Link` (RFC 8288) with the page's own URLs in place of the upstream's: its targets, and quoted parameters such as
    /// `anchor`.
    func localLinks(_ value: String, of upstream: Upstream, by rule: ProxyRule) -> String {
        var (links, rest) = ("", value[...])
        while let start = rest.firstIndex(where: { $0 == "<" || $0 == "\"" }) {
            let isTarget = rest[start] == "<"
            links += rest[...start]
            rest = rest[rest.index(after: start)...]
            let url = rest.prefix { $0 != (isTarget ? ">" : "\"") }
            // A relative parameter is text, such as a title.
            let isURL = isTarget || url.contains("//")
            links += isURL ? local(String(url), of: upstream, by: rule) : String(url)
            rest = rest[url.endIndex...]
            if let end = rest.popFirst() { links.append(end) }
        }
        return links + rest
    }

    /// From its first slash on; nil for what is relative to its own path, or another server's.
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
