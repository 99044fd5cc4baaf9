extension FileRequest {
    /// Why the path is not in its canonical spelling, or nil if it is.
    ///
    /// A source that accepts only the canonical spelling lets a proxy in front of it filter paths, by prefix for example, without
    /// being misled.
    package var spellingFault: String? {
        if !isPlain { return "the path holds a segment that is empty, . or .." }
        if Self.hidesPlainCharacter(spelledPath) { return "the path percent-encodes a plain character" }
        return nil
    }

    /// Whether an unreserved character (a letter, a digit, or one of `-._~`) is encoded as `%XX`, which no URI needs (RFC 3986
    /// §2.3).
    private static func hidesPlainCharacter(_ path: String) -> Bool {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return false }
        return path.split(separator: "%", omittingEmptySubsequences: false).dropFirst().contains { part in
            guard let byte = UInt8(part.prefix(2), radix: 16), byte < 0x80 else { return false }
            let character = Character(Unicode.Scalar(byte))
            return character.isLetter || character.isNumber || "-._~".contains(character)
        }
    }
}
