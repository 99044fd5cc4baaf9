package import PatchFormat

/// A file with rules and their shared settings.
///
/// ```json
/// { "format": "patchline-proxies-v1", "timeoutSeconds": 60, "ca": "-----BEGIN CERTIFICATE-----…",
///   "rules": [ { "pattern": "/api/.*", "to": ["https://api.example.com/v2"], "cookiePath": "/" },
///              { "pattern": "/shop/.*", "to": ["https://shop.example.com"], "pages": { "account": "sid" } } ] }
/// ```
///
/// All members except `format` and `rules`, and in a rule except `pattern` and `to`, are optional. Unknown members are rejected,
/// because a misspelled one would be ignored unnoticed. A rule that can never apply, because of one before it, is rejected too.
package struct ProxyFile: Sendable {
    package static let format = "patchline-proxies-v1"
    /// The largest file in bytes.
    package static let limit = 1_000_000
    package static let timeouts = 1...3_600

    package let rules: [ProxyRule]
    /// PEM certificates that are trusted for the upstreams instead of the system's roots.
    package let authorities: String?
    package let timeoutSeconds: Int?

    package init(_ bytes: [UInt8], named document: String) throws(FormatError) {
        let text: [UInt8]
        do throws(FileText.Problem) { text = try FileText.utf8(bytes) } catch {
            throw FormatError(document, field: "", rule: error.rawValue)
        }
        let fields = try Fields(try JSON.document(text, named: document, limit: Self.limit), of: document)
        try fields.constant("format", Self.format)
        try fields.allow(["format", "timeoutSeconds", "ca", "rules"])
        authorities = try fields.optionalString("ca")
        timeoutSeconds = fields.has("timeoutSeconds") ? try fields.integer("timeoutSeconds", in: Self.timeouts) : nil
        var rules: [ProxyRule] = []
        for (number, value) in try fields.array("rules", limit: ProxyRules.maxRules).enumerated() {
            let row = try Fields(value, of: document, at: "rules[\(number)]")
            let rule = try Self.rule(row)
            if let first = rules.first(where: { $0.pattern.covers(rule.pattern) })?.pattern.text {
                throw row.broken("pattern", "is never used: the earlier \(first) matches all its paths")
            }
            rules.append(rule)
        }
        self.rules = rules
    }

    private static func rule(_ fields: Fields) throws(FormatError) -> ProxyRule {
        try fields.allow(["pattern", "to", "cookiePath", "pages"])
        let pattern = try fields.string("pattern")
        let upstreams = try fields.strings("to", limit: ProxyRule.maxUpstreams)
        let cookiePath = try fields.optionalString("cookiePath")
        var rule: ProxyRule
        do throws(ProxyRuleError) {
            rule = try ProxyRule(pattern: pattern, to: upstreams, cookiePath: cookiePath)
        } catch { throw FormatError(fields.document, field: fields.path, rule: error.description) }
        if fields.has("pages") { rule.pages = try LivePages(fields.fields("pages"), under: rule.pattern) }
        return rule
    }
}
