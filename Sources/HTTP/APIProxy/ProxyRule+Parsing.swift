/// Why a text is not a valid rule.
package enum ProxyRuleError: Error, Equatable, Sendable {
    /// The text is not of the form `PATTERN=URL`.
    case noUpstream
    case pattern(PatternError)
    /// The text is not a valid URL of an upstream.
    case upstream(String)
    /// There are more than ``ProxyRule/maxUpstreams``.
    case tooManyUpstreams
    /// The path does not begin with `/` or contains characters that a cookie must not have.
    case cookiePath
}

extension ProxyRuleError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noUpstream: "must be PATTERN=URL, as in '/api/.*=https://api.example.com'"
        case .pattern(let error): "has a pattern that \(error)"
        case .upstream(let text): "leads to \(text), but a URL \(Upstream.rule)"
        case .tooManyUpstreams: "leads to more than \(ProxyRule.maxUpstreams) servers"
        case .cookiePath: "has a cookiePath that is not a path"
        }
    }
}

extension ProxyRule {
    /// Parses `PATTERN=URL`, or `PATTERN=URL,URL` for servers that are tried in this order.
    package init(argument text: String) throws(ProxyRuleError) {
        let characters = Array(text)
        let start = characters.indices.first { index in
            let rest = String(characters[index...].prefix(9)).lowercased()
            return rest.hasPrefix("=http://") || rest.hasPrefix("=https://")
        }
        guard let start else { throw .noUpstream }
        try self.init(
            pattern: String(characters[..<start]),
            to: String(characters[(start + 1)...]).split(separator: ",", omittingEmptySubsequences: false).map(
                String.init
            )
        )
    }

    init(pattern: String, to texts: [String], cookiePath: String? = nil) throws(ProxyRuleError) {
        let parsed: ProxyPattern
        do throws(PatternError) { parsed = try ProxyPattern(pattern) } catch { throw .pattern(error) }
        guard texts.count <= Self.maxUpstreams else { throw .tooManyUpstreams }
        var upstreams: [Upstream] = []
        for text in texts {
            guard let upstream = Upstream(text) else { throw .upstream(text) }
            upstreams.append(upstream)
        }
        guard !upstreams.isEmpty else { throw .noUpstream }
        if let cookiePath {
            let isPath =
                cookiePath.hasPrefix("/") && cookiePath.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3B }
            guard isPath else { throw .cookiePath }
        }
        self.init(parsed, to: upstreams, cookiePath: cookiePath)
    }
}
