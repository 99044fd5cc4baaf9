import PatchFormat
import PatchCrypto

/// Changes a Content-Security-Policy of the device so that it allows the inline script of the release stamp.
enum ContentPolicy {
    /// Returns the policies with the SHA-256 of the inline script in each directive that would block it.
    ///
    /// - Parameter field: One or more policies, separated by commas (CSP §2.2).
    static func allowing(_ script: SHA256Digest, in field: String) -> String {
        let source = "'sha256-\(Base64.text(script.bytes))'"
        return field.split(separator: ",", omittingEmptySubsequences: false)
            .map { policy(allowing: source, $0) }
            .joined(separator: ",")
    }

    private static func policy(allowing source: String, _ policy: Substring) -> String {
        var directives = policy.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        let names = directives.map { words(of: $0).first?.lowercased() }
        // The first directive of a name applies, and the most specific of these decides on an inline script (CSP §6.8).
        let deciding = ["script-src-elem", "script-src", "default-src"].compactMap { names.firstIndex(of: $0) }.first
        guard let deciding else { return String(policy) }
        let sources = words(of: directives[deciding]).dropFirst()
        guard !allowsInline(sources.map { $0.lowercased() }), !sources.contains(source) else { return String(policy) }
        let kept = sources.filter { $0.lowercased() != "'none'" }
        let lead = directives[deciding].prefix { $0 == " " }
        let name = words(of: directives[deciding])[0]
        directives[deciding] = lead + ([name] + kept + [source]).joined(separator: " ")
        return directives.joined(separator: ";")
    }

    /// `'unsafe-inline'` is ignored if there is a nonce, a hash or `'strict-dynamic'` (CSP §6.7.3.2).
    private static func allowsInline(_ sources: [String]) -> Bool {
        let limits = ["'nonce-", "'sha256-", "'sha384-", "'sha512-", "'strict-dynamic'"]
        return sources.contains("'unsafe-inline'")
            && !sources.contains { source in limits.contains { source.hasPrefix($0) } }
    }

    private static func words(of directive: String) -> [String] {
        directive.split { $0.isWhitespace }.map(String.init)
    }
}
