/// The PKCS#1 type-1 block of a JSPatch signature: `00 01 FF{8+} 00` and the hex characters of a digest, without DigestInfo.
///
/// JSPatch's own client accepts any bytes between two zeros. Here every byte is checked.
enum JSPatchBlock {
    static func text(_ block: [UInt8], digest: JSPatchDigest) throws(JSPatchError) -> String {
        guard block.starts(with: [0x00, 0x01]) else { throw .blockType }
        let padding = block.dropFirst(2).prefix { $0 == 0xFF }
        guard let next = block.dropFirst(2 + padding.count).first else { throw .noText }
        guard next == 0x00 else { throw .paddingByte(next, at: 2 + padding.count) }
        guard padding.count >= 8 else { throw .shortPadding(padding.count) }
        let text = block.dropFirst(2 + padding.count + 1)
        guard text.count == digest.length else {
            throw text.isEmpty ? .noText : .textLength(text.count, expected: digest.length)
        }
        guard text.allSatisfy(isHexDigit) else { throw .notHex }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
