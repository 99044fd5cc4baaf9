/// Whether a file holds a private key in PEM: a block with its lines of base64, not the words of a program that reads keys.
enum PrivateKeyText {
    /// Larger files are not looked through: a key is a few kilobytes.
    static let limit = 64 * 1024

    private static let mark = Array("PRIVATE KEY-----".utf8)

    static func stands(in bytes: [UInt8]) -> Bool {
        guard bytes.count <= limit, contains(mark, bytes) else { return false }
        let lines = bytes.split(omittingEmptySubsequences: false) {
            $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
        }
        .map { String(decoding: $0, as: UTF8.self).trimmed }.filter { !$0.isEmpty }
        return zip(lines, lines.dropFirst()).contains { line, next in
            line.hasPrefix("-----BEGIN ") && line.hasSuffix("PRIVATE KEY-----") && isBody(next)
        }
    }

    /// A line of base64, or the first field of an old encrypted key.
    private static func isBody(_ line: String) -> Bool {
        if line.hasPrefix("Proc-Type:") { return true }
        return line.utf8.count >= 32
            && line.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                    true
                default: false
                }
            }
    }

    private static func contains(_ wanted: [UInt8], _ bytes: [UInt8]) -> Bool {
        guard bytes.count >= wanted.count else { return false }
        for start in 0...(bytes.count - wanted.count) where bytes[start] == wanted[0] {
            if (1..<wanted.count).allSatisfy({ bytes[start + $0] == wanted[$0] }) { return true }
        }
        return false
    }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...]
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}
