extension FileRequest {
    /// Why the path is not spelled in the one way that a resource has, for a source that takes no other: then whoever looks
    /// at paths in front of it, by a prefix say, sees what is meant.
    package var spellingFault: String? {
        if !isPlain { return "the path holds a segment that is empty, . or .." }
        if Self.hidesPlainCharacter(spelledPath) { return "the path spells a plain character by its number" }
        return nil
    }

    /// RFC 3986 §2.3: no URI needs a letter, a digit, or one of `-._~` written as `%XX`.
    private static func hidesPlainCharacter(_ path: String) -> Bool {
        guard path.utf8.contains(UInt8(ascii: "%")) else { return false }
        return path.split(separator: "%", omittingEmptySubsequences: false).dropFirst().contains { part in
            guard let byte = UInt8(part.prefix(2), radix: 16), byte < 0x80 else { return false }
            let character = Character(Unicode.Scalar(byte))
            return character.isLetter || character.isNumber || "-._~".contains(character)
        }
    }
}
