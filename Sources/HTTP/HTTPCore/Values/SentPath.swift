/// The path of a request as the client sent it, for a source that passes the request on.
///
/// Servers read some paths in different ways: `/a//b` as `/a/b` or not, `/a%2Fb` as two names or as one. A source decides by every
/// reading and forwards the path only if all of them have the same result.
package struct SentPath: Hashable, Sendable {
    /// The path as received, without the query.
    package let text: String

    package init(_ text: String) {
        self.text = text.isEmpty ? "/" : text
    }

    /// Why a path is not passed on.
    package enum Fault: Error, Equatable, Sendable {
        /// `.` or `..` in any spelling, also before `;` or beside an encoded slash.
        case dotSegment
        /// A control character, after decoding.
        case controlCharacter
    }

    /// The decoded path in every way in which a server may read it.
    ///
    /// The first one is the path that sources receive.
    package func readings() throws(Fault) -> [String] {
        var whole: [String] = []
        var split: [String] = []
        for raw in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let bytes = Self.decoded(raw)
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .controlCharacter }
            let pieces = bytes.split(omittingEmptySubsequences: false) {
                $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\")
            }
            for piece in pieces where [[0x2E], [0x2E, 0x2E]].contains(Array(piece.prefix { $0 != UInt8(ascii: ";") })) {
                throw .dotSegment
            }
            let isText = pieces.count == 1 && String(validating: bytes, as: UTF8.self) != nil
            whole.append(String(decoding: isText ? bytes : Array(raw), as: UTF8.self))
            split += pieces.map { String(decoding: $0, as: UTF8.self) }
        }
        var readings: [String] = []
        for names in [whole, split] {
            for reading in [Self.joined(Self.withoutEmpty(names)), Self.joined(names)] where !readings.contains(reading)
            {
                readings.append(reading)
            }
        }
        return readings
    }

    /// The path's names as they were sent.
    ///
    /// A slash at the end adds an empty name.
    package var names: [String] {
        text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    private static func joined(_ names: [String]) -> String { "/" + names.joined(separator: "/") }

    private static func withoutEmpty(_ names: [String]) -> [String] {
        let named = names.filter { !$0.isEmpty }
        return named.isEmpty || names.last != "" ? named : named + [""]
    }

    private static func decoded(_ raw: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(raw)[...]
        while let byte = rest.popFirst() {
            let escape = rest.prefix(2).compactMap(\.hexDigitValue)
            if byte == UInt8(ascii: "%"), escape.count == 2 {
                bytes.append(escape[0] << 4 | escape[1])
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
