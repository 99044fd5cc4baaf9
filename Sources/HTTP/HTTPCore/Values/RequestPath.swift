/// Why a request target has no valid path.
///
/// It is answered 400 before a source receives the request.
package enum RequestPathError: Error, Equatable, Sendable {
    /// Neither `/path` nor `http://host/path` (RFC 9112 §3.2).
    case notAPath
    /// A byte that a request target must not contain: control, space, non-ASCII, `#`.
    case forbiddenByte(UInt8)
    /// A `%` without two hexadecimal digits after it.
    case badEscape
    /// The decoded bytes are not UTF-8.
    case notUTF8
    /// A control character, after decoding.
    case controlCharacter
    /// `%2F`: a slash that is not a separator. File systems cannot distinguish it from a separator.
    case encodedSlash
    /// A backslash, plain or encoded, which some systems treat as a slash.
    case backslash
}

/// The path of a request: percent-decoded once, dot segments removed once, never above the root.
///
/// The target is split at its slashes first, then every segment is decoded, then `.` and `..` are removed (RFC 3986 §5.2.4). So
/// `%2e%2e` climbs no further than `..`, and `%252e` remains the text `%2e`. Empty segments are removed: `/a//b` becomes `/a/b`, as
/// the GCDWebServer vectors require (no file has an empty name).
package struct RequestPath: Hashable, Sendable {
    /// The decoded names, root first.
    ///
    /// They are never empty, `.` or `..`, and never contain `/`, `\` or control characters.
    package let segments: [String]
    /// Whether the target ends in `/`, `/.` or `/..`, and so asks for a folder.
    ///
    /// True for the root.
    package let hasTrailingSlash: Bool

    /// The decoded path, with one slash before each segment and none at the end; `/` for the root.
    package var text: String {
        segments.isEmpty ? "/" : segments.map { "/\($0)" }.joined()
    }

    /// Parses the path of a request target in origin form or absolute form.
    ///
    /// A query is skipped.
    package init(parsing target: String) throws(RequestPathError) {
        self = try RequestTarget(parsing: target).path
    }

    /// - Parameters:
    ///   - spelled: Receives the raw segments that remain.
    ///   - keepsEncoded: Whether a segment that cannot name a file, such as `a%2Fb` or `%FF`, keeps its spelling.
    init(
        rawSegments: [ArraySlice<UInt8>],
        spelled: inout [ArraySlice<UInt8>],
        keepsEncoded: Bool = false
    ) throws(RequestPathError) {
        var segments: [String] = []
        var endsInFolder = true
        for raw in rawSegments {
            let segment = try keepsEncoded ? Self.decodeOrKeep(raw) : Self.decode(raw)
            switch segment {
            case "", ".":
                endsInFolder = true
            case "..":
                _ = segments.popLast()
                _ = spelled.popLast()
                endsInFolder = true
            default:
                segments.append(segment)
                spelled.append(raw)
                endsInFolder = false
            }
        }
        self.segments = segments
        self.hasTrailingSlash = endsInFolder
    }

    /// The percent-encoded path, with a slash at its end if the target has one.
    package var encoded: String {
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        let names = segments.map { segment in
            segment.utf8.map { byte in
                if unreserved.contains(byte) { return String(Unicode.Scalar(byte)) }
                let digits = String(byte, radix: 16, uppercase: true)
                return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }.joined()
        }
        return Self.joined(names, hasTrailingSlash: hasTrailingSlash)
    }

    static func joined(_ names: [String], hasTrailingSlash: Bool) -> String {
        names.isEmpty ? "/" : names.map { "/\($0)" }.joined() + (hasTrailingSlash ? "/" : "")
    }

    private static func decodeOrKeep(_ raw: ArraySlice<UInt8>) throws(RequestPathError) -> String {
        do throws(RequestPathError) { return try decode(raw) } catch {
            switch error {
            case .encodedSlash, .notUTF8: break
            case .backslash where !raw.contains(UInt8(ascii: "\\")): break
            case .notAPath, .forbiddenByte, .badEscape, .controlCharacter, .backslash: throw error
            }
            return String(decoding: raw, as: UTF8.self)
        }
    }

    private static func decode(_ raw: ArraySlice<UInt8>) throws(RequestPathError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var rest = raw
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                throw .badEscape
            }
            bytes.append(high << 4 | low)
        }
        if bytes.contains(UInt8(ascii: "/")) { throw .encodedSlash }
        if bytes.contains(UInt8(ascii: "\\")) { throw .backslash }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw .controlCharacter
        }
        return text
    }
}
