/// The response headers that a release may set, and their values.
///
/// A release sets headers for its own pages only. It cannot expose the device to other origins, set cookies, or keep an update from
/// reaching a page.
package enum AllowedHeader {
    /// Why a header is rejected: the rule, and a hint that names an alternative.
    package struct Refusal: Error, Equatable, Sendable {
        package let rule: String
        package let hint: String
    }

    private enum Values {
        case any
        case oneOf([String])
        case cacheControl
        case mediaType
        case path
    }

    private static let allowed: [(name: String, values: Values)] = [
        ("Cache-Control", .cacheControl),
        ("Content-Disposition", .any),
        ("Content-Language", .any),
        ("Content-Security-Policy", .any),
        ("Content-Security-Policy-Report-Only", .any),
        ("Content-Type", .mediaType),
        ("Cross-Origin-Embedder-Policy", .oneOf(["require-corp", "credentialless", "unsafe-none"])),
        ("Cross-Origin-Embedder-Policy-Report-Only", .any),
        (
            "Cross-Origin-Opener-Policy",
            .oneOf(["same-origin", "same-origin-allow-popups", "noopener-allow-popups", "unsafe-none"])
        ),
        ("Cross-Origin-Opener-Policy-Report-Only", .any),
        ("Cross-Origin-Resource-Policy", .oneOf(["same-origin", "same-site", "cross-origin"])),
        ("Document-Policy", .any),
        ("Link", .any),
        ("Origin-Agent-Cluster", .oneOf(["?0", "?1"])),
        ("Permissions-Policy", .any),
        (
            "Referrer-Policy",
            .oneOf([
                "same-origin", "strict-origin-when-cross-origin", "origin-when-cross-origin",
                "no-referrer-when-downgrade", "unsafe-url",
            ])
        ),
        ("Reporting-Endpoints", .any),
        ("Service-Worker-Allowed", .path),
        ("Timing-Allow-Origin", .any),
        ("X-Content-Type-Options", .oneOf(["nosniff"])),
        ("X-Frame-Options", .oneOf(["DENY", "SAMEORIGIN"])),
        ("X-Robots-Tag", .any),
    ]

    /// Commonly wanted headers that are rejected, by lower-case name.
    private static let refused: [String: Refusal] = {
        let cors = Refusal(
            rule: "would let other origins read the app",
            hint: "the device's owner allows an origin: `patchsync serve --origin`"
        )
        let framing = Refusal(rule: "is decided by the server for each answer", hint: "remove it")
        var refused: [String: Refusal] = [
            "set-cookie": Refusal(
                rule: "would set the same cookie on every device",
                hint: "set it in a script of the app"
            ),
            "strict-transport-security": Refusal(rule: "has no effect on http://NAME.localhost", hint: "remove it"),
            "location": Refusal(rule: "would redirect a file", hint: "use a page with a refresh, or `routing: site`"),
            "refresh": Refusal(rule: "would redirect a file", hint: "write it into the page as a meta element"),
            "clear-site-data": Refusal(
                rule: "would delete the device's access cookie",
                hint: "delete data in a script of the app"
            ),
            "sourcemap": Refusal(rule: "is sent for a file with FILE.map beside it", hint: "remove it"),
            "x-sourcemap": Refusal(rule: "is sent for a file with FILE.map beside it", hint: "remove it"),
            "server": framing, "date": framing, "etag": framing, "last-modified": framing, "vary": framing,
            "expires": Refusal(rule: "is decided by Cache-Control", hint: "use Cache-Control"),
            "pragma": Refusal(rule: "is decided by Cache-Control", hint: "use Cache-Control"),
        ]
        for name in ["content-length", "transfer-encoding", "connection", "upgrade", "accept-ranges", "content-range"] {
            refused[name] = framing
        }
        for name in ["origin", "credentials", "methods", "headers"] { refused["access-control-allow-\(name)"] = cors }
        return refused
    }()

    package static let names: [String] = allowed.map(\.name)

    /// Returns the name as it is sent and the value if a release may set them.
    package static func checked(_ name: String, _ value: String) throws(Refusal) -> HeaderRule.Field {
        let lower = name.lowercased()
        guard let entry = allowed.first(where: { $0.name.lowercased() == lower }) else {
            throw refused[lower]
                ?? Refusal(
                    rule: "is not a header that a release may set",
                    hint:
                        "the device's owner can: `patchsync serve --header`; a release sets \(names.joined(separator: ", "))"
                )
        }
        let isText = value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
        guard isText, !value.isEmpty, value.utf8.first != 0x20, value.utf8.last != 0x20,
            value.utf8.count <= Limits.headerValue
        else {
            throw Refusal(
                rule: "must be 1 to \(Limits.headerValue) characters of printable ASCII",
                hint: "write it in one line, without spaces around it"
            )
        }
        switch entry.values {
        case .any: break
        case .oneOf(let values): try check(value, isOneOf: values, name: lower)
        case .path:
            guard value.utf8.first == UInt8(ascii: "/") else {
                throw Refusal(rule: "must be a path", hint: "write it from the root: /")
            }
        case .mediaType:
            guard isMediaType(value) else {
                throw Refusal(
                    rule: "must be a media type",
                    hint: "write type/subtype, such as text/html; charset=utf-8"
                )
            }
        case .cacheControl:
            guard CacheRule(value) != nil else {
                throw Refusal(
                    rule: "holds an unknown directive, or a time above a year",
                    hint: "use \(CacheRule.known.joined(separator: ", ")) or max-age=SECONDS"
                )
            }
        }
        return HeaderRule.Field(name: entry.name, value: value)
    }

    private static func check(_ value: String, isOneOf values: [String], name: String) throws(Refusal) {
        // A report policy may name an endpoint after a semicolon.
        let word = value.prefix { $0 != ";" }
        guard !values.contains(String(word)) else { return }
        let given = "use \(values.joined(separator: ", "))"
        guard name == "referrer-policy", ["no-referrer", "origin", "strict-origin"].contains(value) else {
            throw Refusal(rule: "must be one of its known values", hint: given)
        }
        throw Refusal(
            rule: "would hide which page asks, so that an open page could get files of another version",
            hint: given
        )
    }

    private static func isMediaType(_ value: String) -> Bool {
        let type = value.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        let marks = Set("!#$&-^_.+".utf8)
        return type.count == 2
            && type.allSatisfy { part in
                let part = part.utf8.last == 0x20 ? part.dropLast() : part
                return !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                            || marks.contains(byte)
                    }
            }
    }
}

/// A value of Cache-Control that a release may set.
package struct CacheRule: Equatable, Sendable {
    package static let known = [
        "no-cache", "no-store", "private", "public", "must-revalidate", "immutable", "no-transform",
    ]
    private static let timed = ["max-age", "stale-while-revalidate", "stale-if-error"]
    private static let year = 31_536_000

    /// Whether a browser may reuse the response later without asking the device again.
    package let keeps: Bool

    /// Nil if a directive is unknown or a time is above a year.
    package init?(_ value: String) {
        var (forbids, times) = (false, 0)
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            let directive = part.split(separator: " ").joined(separator: " ").lowercased()
            if Self.known.contains(directive) {
                if directive == "no-cache" || directive == "no-store" { forbids = true }
                continue
            }
            let pair = directive.split(separator: "=", omittingEmptySubsequences: false)
            guard pair.count == 2, Self.timed.contains(String(pair[0])), pair[1].utf8.count <= 8,
                pair[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int(pair[1]),
                seconds <= Self.year
            else { return nil }
            times = max(times, seconds)
        }
        // Without a max-age, a browser guesses a lifetime.
        keeps = !forbids && (times > 0 || !value.lowercased().contains("max-age"))
    }
}
