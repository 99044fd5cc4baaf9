import PatchFormat

/// The `headers` of a description: response headers by a pattern of file paths.
struct DescribedHeaders {
    static let key = "headers"
    private static let coding = "content-encoding"

    private(set) var rules: [HeaderRule] = []
    private(set) var codings: [DescribedCoding] = []

    init(_ fields: Fields, _ mistakes: Mistakes) {
        guard fields.has(Self.key) else { return }
        let example = "{\"**\": {Cross-Origin-Opener-Policy: same-origin}}"
        let table = mistakes.take { () throws(FormatError) in try fields.mapping(Self.key, such: example) }
        guard let table else { return }
        for member in table.object.members {
            let text = member.key.text
            guard let pattern = FilePattern(text) else {
                mistakes.add(table.broken(text, FilePattern.rule))
                continue
            }
            let named = mistakes.take { () throws(FormatError) in
                try table.mapping(text, such: "{Referrer-Policy: same-origin}")
            }
            if let named { add(named, for: pattern, mistakes) }
        }
        if let rule = HeaderRule.problem(of: rules) { mistakes.add(fields.broken(Self.key, rule)) }
    }

    private mutating func add(_ named: Fields, for pattern: FilePattern, _ mistakes: Mistakes) {
        var found: [HeaderRule.Field] = []
        for member in named.object.members {
            let name = member.key.text
            guard let value = mistakes.take({ () throws(FormatError) in try named.words(name) }) else { continue }
            if name.lowercased() == Self.coding {
                codings.append(contentsOf: Self.coding(value, named, name, pattern, mistakes))
                continue
            }
            do throws(AllowedHeader.Refusal) {
                let field = try AllowedHeader.checked(name, value)
                if found.contains(where: { $0.name == field.name }) {
                    mistakes.add(named.broken(name, "is given twice"))
                }
                found.append(field)
            } catch { mistakes.add(named.broken(name, "\(error.rule); \(error.hint)")) }
        }
        if !found.isEmpty { rules.append(HeaderRule(pattern: pattern, fields: found)) }
    }

    private static func coding(
        _ value: String,
        _ named: Fields,
        _ name: String,
        _ pattern: FilePattern,
        _ mistakes: Mistakes
    ) -> [DescribedCoding] {
        let coding = AssetCoding(rawValue: value)
        guard coding != nil || value == "identity" else {
            mistakes.add(named.broken(name, "must be br, zstd or gzip, or identity for a file to be sent as it is"))
            return []
        }
        return [DescribedCoding(pattern: pattern, coding: coding)]
    }
}
