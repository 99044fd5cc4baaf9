/// Detects binary files that consist of a private key, by their first bytes and size.
enum KeyContainer {
    /// The number of bytes examined at the start of a file.
    static let head = 4_096

    static func of(_ head: [UInt8], size: Int) -> SecretKind.Container? {
        if head.starts(with: [0xFE, 0xED, 0xFE, 0xED]) || head.starts(with: [0xCE, 0xCE, 0xCE, 0xCE]) {
            return .javaKeyStore
        }
        if isBouncyCastle(head) { return .javaKeyStore }
        if head.starts(with: [0x1E, 0xF1, 0xB5, 0xB0]) { return .microsoft }
        if head.starts(with: [0x07, 0x02, 0, 0]), head.dropFirst(8).starts(with: "RSA2".utf8) { return .microsoft }
        if head.starts(with: "openssh-key-v1\0".utf8) { return .openSSH }
        if isOpenPGP(head, size: size) { return .pgp }
        return der(head, size: size)
    }

    /// BKS and UBER: version 1 or 2, a 20-byte salt preceded by its length, and the digest's iteration count.
    private static func isBouncyCastle(_ head: [UInt8]) -> Bool {
        guard head.count >= 32, head[0] == 0, head[1] == 0, head[2] == 0, (1...2).contains(head[3]),
            Array(head[4..<8]) == [0, 0, 0, 20], head[28] == 0, head[29] == 0
        else { return false }
        let rounds = Int(head[30]) << 8 | Int(head[31])
        return (1_000...9_999).contains(rounds)
    }

    /// RFC 9580: a secret-key packet (tag 5) of version 4 to 6, with a valid time and algorithm.
    private static func isOpenPGP(_ head: [UInt8], size: Int) -> Bool {
        guard head.count >= 12 else { return false }
        let body: (start: Int, count: Int)
        switch head[0] {
        case 0x94: body = (2, Int(head[1]))
        case 0x95: body = (3, Int(head[1]) << 8 | Int(head[2]))
        case 0xC5 where head[1] < 192: body = (2, Int(head[1]))
        case 0xC5 where head[1] < 224: body = (3, (Int(head[1]) - 192) << 8 + Int(head[2]) + 192)
        default: return false
        }
        guard body.start + body.count <= size, body.count > 30, (4...6).contains(head[body.start]) else { return false }
        return (0x20...0xF0).contains(head[body.start + 1])
            && [1, 2, 3, 16, 17, 18, 19, 22, 25, 26, 27, 28].contains(head[body.start + 5])
    }

    // MARK: DER

    private static func der(_ head: [UInt8], size: Int) -> SecretKind.Container? {
        var reader = DERReader(bytes: head[...])
        guard let outer = reader.next(), outer.tag == 0x30 else { return nil }
        // A PKCS#12 file may have indefinite length (BER), and an editor may have added a line break at the end.
        if let length = outer.length {
            guard (0...2).contains(size - outer.start - length) else { return nil }
        }
        reader.enter(outer)
        guard let first = reader.next() else { return nil }
        if first.tag == 0x30 { return isEncrypted(first, reader) ? .pkcs8 : nil }
        guard first.tag == 0x02, first.length == 1 else { return nil }
        let version = head[first.start]
        reader.skip(first)
        guard let second = reader.next() else { return nil }
        switch (version, second.tag) {
        case (3, 0x30):
            reader.enter(second)
            return reader.holds([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07]) ? .pkcs12 : nil
        case _ where outer.length == nil: return nil
        case (0...1, 0x30):
            reader.skip(second)
            return reader.next()?.tag == 0x04 && head[second.start] == 0x06 ? .pkcs8 : nil
        case (0, 0x02):
            // A modulus or a prime.
            guard let length = second.length, length >= 32 else { return nil }
            reader.skip(second)
            return reader.isAtEnd || reader.next()?.tag == 0x02 ? .pkcs1 : nil
        case (1, 0x04):
            guard let length = second.length, (16...72).contains(length) else { return nil }
            reader.skip(second)
            return reader.isAtEnd || [0xA0, 0xA1].contains(reader.next()?.tag) ? .ec : nil
        default: return nil
        }
    }

    /// EncryptedPrivateKeyInfo: an algorithm of PKCS#5 or PKCS#12, and an octet string.
    private static func isEncrypted(_ algorithm: DERReader.Element, _ reader: DERReader) -> Bool {
        var (inside, behind) = (reader, reader)
        inside.enter(algorithm)
        guard
            inside.holds([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05])
                || inside.holds([0x06, 0x0A, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C])
        else { return false }
        behind.skip(algorithm)
        return behind.next()?.tag == 0x04
    }
}

/// Reads consecutive DER tags and lengths.
private struct DERReader {
    struct Element {
        let tag: UInt8
        /// Nil for an indefinite length.
        let length: Int?
        /// The start of the contents.
        let start: Int
    }

    let bytes: ArraySlice<UInt8>
    private var place = 0

    init(bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { place >= bytes.count }

    /// The element at the current position, without advancing.
    func next() -> Element? {
        guard place + 1 < bytes.count else { return nil }
        let first = bytes[place + 1]
        switch first {
        case 0x80: return Element(tag: bytes[place], length: nil, start: place + 2)
        case 0..<0x80: return Element(tag: bytes[place], length: Int(first), start: place + 2)
        case 0x81...0x84:
            let count = Int(first & 0x7F)
            guard place + 2 + count <= bytes.count else { return nil }
            let length = bytes[(place + 2)..<(place + 2 + count)].reduce(0) { $0 << 8 | Int($1) }
            return Element(tag: bytes[place], length: length, start: place + 2 + count)
        default: return nil
        }
    }

    mutating func enter(_ element: Element) { place = element.start }

    mutating func skip(_ element: Element) { place = element.start + (element.length ?? 0) }

    func holds(_ wanted: [UInt8]) -> Bool {
        place <= bytes.count && bytes[place...].starts(with: wanted)
    }
}
