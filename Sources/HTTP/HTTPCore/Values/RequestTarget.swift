/// A parsed request target in origin form or absolute form (RFC 9112 §3.2).
package struct RequestTarget: Equatable, Sendable {
    package let path: RequestPath
    /// The raw query without `?`, or nil if there is none.
    package let query: String?
    /// The path as received.
    package let sentPath: SentPath
    /// The path as received, without the segments that `path` omits.
    package let spelledPath: String
    /// Whether `path` omits nothing: no dot segment, and no empty segment except at the end.
    package let isPlain: Bool

    /// - Parameter keepsEncoded: See ``RequestPath``. Used for a source that passes requests on.
    package init(parsing target: String, keepsEncoded: Bool = false) throws(RequestPathError) {
        // Bytes above 0x7E are DEL and raw UTF-8; bytes below 0x21 are the controls and the space. A fragment is never sent.
        for byte in target.utf8 where byte < 0x21 || byte > 0x7E || byte == UInt8(ascii: "#") {
            throw .forbiddenByte(byte)
        }
        var rest = Array(target.utf8)[...]
        if rest.first != UInt8(ascii: "/") {
            rest = try Self.afterAuthority(rest)
        }
        let parts = rest.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        sentPath = SentPath(String(decoding: parts.first ?? [], as: UTF8.self))
        let names = (parts.first ?? []).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var spelled: [ArraySlice<UInt8>] = []
        path = try RequestPath(rawSegments: names, spelled: &spelled, keepsEncoded: keepsEncoded)
        spelledPath = RequestPath.joined(
            spelled.map { String(decoding: $0, as: UTF8.self) },
            hasTrailingSlash: path.hasTrailingSlash
        )
        let segments = names.count - 1 - (names.last?.isEmpty == true ? 1 : 0)
        isPlain = spelled.count == max(0, segments)
        query = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : nil
    }

    /// Skips `http://host:port`.
    ///
    /// Its authority is ignored, because one server has one tree.
    private static func afterAuthority(_ target: ArraySlice<UInt8>) throws(RequestPathError) -> ArraySlice<UInt8> {
        for scheme in ["http://", "https://"]
        where String(decoding: target.prefix(scheme.utf8.count), as: UTF8.self).lowercased() == scheme {
            let afterScheme = target.dropFirst(scheme.utf8.count)
            let rest = afterScheme.drop { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            guard rest.startIndex > afterScheme.startIndex else { throw .notAPath }
            return rest
        }
        throw .notAPath
    }
}
