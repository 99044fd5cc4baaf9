/// Shortens a script that many pages contain.
enum ScriptText {
    /// Returns the script without comment lines and without unnecessary white space.
    ///
    /// It recognizes strings and no other syntax. Each statement of `source` must end with a semicolon or a brace. Comments need
    /// separate lines. Regular expressions must not contain quotes or blanks.
    static func stripped(_ source: String) -> String {
        let lines = source.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("//") }
        var text: [UInt8] = []
        var (quote, hasGap): (UInt8?, Bool) = (nil, false)
        for byte in lines.joined(separator: "\n").utf8 {
            if let open = quote {
                text.append(byte)
                if byte == open { quote = nil }
                continue
            }
            guard byte != 0x20, byte != 0x0A else {
                hasGap = true
                continue
            }
            if let last = text.last {
                if hasGap, isWord(last), isWord(byte) { text.append(0x20) }
                // An empty statement and a trailing comma have no effect.
                if byte == UInt8(ascii: "}"), last == UInt8(ascii: ";") || last == UInt8(ascii: ",") {
                    text.removeLast()
                }
            }
            hasGap = false
            text.append(byte)
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "`") { quote = byte }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"): true
        default: byte >= 0x80
        }
    }
}
