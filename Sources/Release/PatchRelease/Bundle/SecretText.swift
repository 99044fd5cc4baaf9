/// The texts that indicate private keys and tokens.
///
/// Each has a check that rejects programs which only read keys.
enum SecretText {
    struct Mark: Sendable {
        let text: StaticString
        /// The offset of the two bytes that ``PairSearch`` looks for.
        ///
        /// The pair is rare in scripts and styles.
        let pair: Int
        let judge: @Sendable (ByteText, _ place: Int) -> SecretKind?
    }

    static let marks: [Mark] =
        [
            Mark(text: "PRIVATE KEY", pair: 2) { text, place in PEMText.kind(in: text, at: place) },
            Mark(text: "LS0tLS1CRUdJTi", pair: 1) { text, place in
                PEMText.isEncoded(in: text, at: place) ? .privateKey(.pem) : nil
            },
            Mark(text: "kty", pair: 0) { text, place in JWKText.isPrivate(in: text, at: place) ? .privateKey(.jwk) : nil
            },
            Mark(text: "AGE-SECRET-KEY-1", pair: 3) { text, place in
                text.count(of: .bech32, from: place + 16) >= 50 && text.isRandom(place + 16..<place + 66)
                    ? .privateKey(.age) : nil
            },
            Mark(text: "PuTTY-User-Key-File-", pair: 0) { text, place in
                text[place + 20].map(Alphabet.digits.holds) == true && text[place + 21] == UInt8(ascii: ":")
                    && text.holds("Private-Lines", in: place..<place + 4_000) ? .privateKey(.putty) : nil
            },
            Mark(text: "<RSAKeyValue>", pair: 3) { text, place in
                text.holds("<D>", in: place..<place + 4_000) ? .privateKey(.xml) : nil
            },
            Mark(text: "PrivateKey", pair: 6) { text, place in
                var place = text.skipSpaces(from: place + 10)
                guard text[place] == UInt8(ascii: "=") else { return nil }
                place = text.skipSpaces(from: place + 1)
                return text.count(of: .base64, from: place) == 44 && text[place + 43] == UInt8(ascii: "=")
                    && text.isRandom(place..<place + 43) ? .privateKey(.wireGuard) : nil
            },
            // Base64 keys without PEM lines: the bytes that every key of a kind begins with.
            Mark(text: "ADANBgkqhkiG9w0BAQEFAASC", pair: 6) { text, place in
                text.count(of: .base64, from: place) >= 200 ? .privateKey(.pkcs8) : nil
            },
            Mark(text: "AgEAMBMGByqGSM49AgEGCCqGSM49AwEH", pair: 12) { text, place in
                text.count(of: .base64, from: place) >= 80 ? .privateKey(.pkcs8) : nil
            },
            Mark(text: "AgEAMBAGByqGSM49AgEGBSuBBAA", pair: 12) { text, place in
                text.count(of: .base64, from: place) >= 80 ? .privateKey(.pkcs8) : nil
            },
            Mark(text: "MC4CAQAwBQYDK2V", pair: 12) { text, place in
                text.count(of: .base64, from: place) >= 62 ? .privateKey(.pkcs8) : nil
            },
            Mark(text: "IBAAK", pair: 3) { text, place in
                text.holds("MII", at: place - 6) && text.count(of: .base64, from: place) >= 200
                    ? .privateKey(.pkcs1) : nil
            },
            Mark(text: "b3BlbnNzaC1rZXktdjE", pair: 10) { text, place in
                text.count(of: .base64, from: place) >= 40 ? .privateKey(.openSSH) : nil
            },
        ] + tokens

    private static let tokens: [Mark] =
        [
            token("AKIA", pair: 1, .aws, .base32, exactly: 16), token("ASIA", pair: 1, .aws, .base32, exactly: 16),
            assigned("secret_access_key", pair: 6), assigned("SECRET_ACCESS_KEY", pair: 6),
            assigned("secretAccessKey", pair: 5),
            token("GOCSPX-", pair: 4, .google, .base64URL, 28),
            token("ghp_", pair: 2, .gitHub, .alphanumeric, exactly: 36),
            token("gho_", pair: 2, .gitHub, .alphanumeric, exactly: 36),
            token("ghu_", pair: 2, .gitHub, .alphanumeric, exactly: 36),
            token("ghs_", pair: 2, .gitHub, .alphanumeric, exactly: 36),
            token("ghr_", pair: 2, .gitHub, .alphanumeric, exactly: 36),
            token("github_pat_", pair: 5, .gitHub, .word, 60),
            token("glpat-", pair: 1, .gitLab, .base64URL, 20),
            token("xoxb-", pair: 0, .slack, .base64URL, 20), token("xoxp-", pair: 0, .slack, .base64URL, 20),
            token("xoxa-", pair: 0, .slack, .base64URL, 20), token("xoxr-", pair: 0, .slack, .base64URL, 20),
            token("xoxs-", pair: 0, .slack, .base64URL, 20), token("xoxe", pair: 0, .slack, .base64URL, 24),
            token("xapp-", pair: 0, .slack, .base64URL, 24),
            token("sk_live_", pair: 1, .stripe, .alphanumeric, 20),
            token("rk_live_", pair: 1, .stripe, .alphanumeric, 20),
            token("sk_test_", pair: 1, .stripe, .alphanumeric, 20),
            token("rk_test_", pair: 1, .stripe, .alphanumeric, 20),
            token("whsec_", pair: 1, .stripe, .alphanumeric, 32),
            token("npm_", pair: 2, .npm, .alphanumeric, exactly: 36),
            token("pypi-AgEIcHlwaS5vcmc", pair: 5, .pypi, .base64URL, 40),
            token("sk-ant-", pair: 1, .anthropic, .base64URL, 40), token("sk-proj-", pair: 1, .openAI, .base64URL, 40),
            token("hf_", pair: 1, .huggingFace, .alphanumeric, exactly: 34),
            Mark(text: "SG.", pair: 0) { text, place in
                isStart(text, place) && text.count(of: .base64URL, from: place + 3) == 22
                    && text[place + 25] == UInt8(ascii: ".") && text.count(of: .base64URL, from: place + 26) == 43
                    ? .token(.sendGrid) : nil
            },
            Mark(text: "hooks.slack.com/services/T", pair: 10) { text, place in
                let team = text.count(of: .alphanumeric, from: place + 25)
                return team >= 8 && text.holds("/B", at: place + 25 + team) && text.isRandom(place + 25..<place + 60)
                    ? .token(.slack) : nil
            },
        ]

    private static func token(
        _ prefix: StaticString,
        pair: Int,
        _ service: SecretKind.Service,
        _ alphabet: Alphabet,
        _ least: Int = 0,
        exactly: Int? = nil
    ) -> Mark {
        let start = prefix.utf8CodeUnitCount
        return Mark(text: prefix, pair: pair) { text, place in
            guard isStart(text, place) else { return nil }
            let count = text.count(of: alphabet, from: place + start)
            guard exactly.map({ $0 == count }) ?? (count >= least) else { return nil }
            return text.isRandom(place + start..<place + start + count) ? .token(service) : nil
        }
    }

    /// `aws_secret_access_key = …`, `"secretAccessKey": "…"`: 40 base64 characters.
    private static func assigned(_ name: StaticString, pair: Int) -> Mark {
        Mark(text: name, pair: pair) { text, place in
            var place = place + name.utf8CodeUnitCount
            var (hasSign, most) = (false, place + 12)
            while place < most, let byte = text[place], [0x20, 0x22, 0x27, 0x3A, 0x3D, 0x5C, 0x60].contains(byte) {
                hasSign = hasSign || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")
                place += 1
            }
            most = text.count(of: .base64, from: place)
            return hasSign && most == 40 && text.isRandom(place..<place + 40) ? .token(.aws) : nil
        }
    }

    /// Whether the character before a position is not a letter, digit or underscore.
    private static func isStart(_ text: ByteText, _ place: Int) -> Bool {
        text[place - 1].map { !Alphabet.word.holds($0) } ?? true
    }
}

/// `-----BEGIN … PRIVATE KEY-----` followed by a key: plain, in quotes, in JSON, indented or URL-encoded.
enum PEMText {
    /// - Parameter place: The position of `PRIVATE KEY`.
    static func kind(in text: ByteText, at place: Int) -> SecretKind? {
        guard let begin = (place - 48..<place).last(where: { text.holds("BEGIN", at: $0) }),
            (begin + 5..<place).allSatisfy({ isLabel(text[$0]) }),
            text.holds("----", at: begin - 4) || text.holds("---- ", at: begin - 5)
        else { return nil }
        var end = place + 11
        let isPGP = text.holds(" BLOCK", at: end)
        if isPGP { end += 6 }
        if text[end] == UInt8(ascii: " ") { end += 1 }
        guard text.holds("----", at: end) else { return nil }
        while text[end] == UInt8(ascii: "-") { end += 1 }
        guard hasBody(text, from: end) else { return nil }
        return .privateKey(isPGP ? .pgp : text.holds("OPENSSH", in: begin..<place) ? .openSSH : .pem)
    }

    /// Whether the text is a PEM key encoded in base64, as in cluster settings.
    static func isEncoded(in text: ByteText, at place: Int) -> Bool {
        let count = text.count(of: .base64, from: place, atMost: 80) / 4 * 4
        guard count >= 60 else { return false }
        let bytes = Array(text.bytes[place..<place + count]).base64Decoded
        return ByteText(bytes: bytes).holds("PRIVATE KEY", in: 0..<bytes.count)
    }

    private static func isLabel(_ byte: UInt8?) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "%"), UInt8(ascii: "+"), UInt8(ascii: "_"): true
        case let byte?: Alphabet.bech32.holds(byte)
        case nil: false
        }
    }

    /// Whether base64 lines follow, optionally after header fields.
    private static func hasBody(_ text: ByteText, from start: Int) -> Bool {
        var (place, line, body): (Int, Int, [UInt8]) = (start, 0, [])
        var longest = 0
        while body.count < 64, place < start + 3_000, let byte = text[place] {
            switch byte {
            case UInt8(ascii: "\\"):
                let next = text[place + 1]
                let isCode = [UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t")].contains(next)
                // JSON may escape a slash of the key with a backslash.
                if next == UInt8(ascii: "u") { place += 5 } else if isCode { place += 1 }
                if next != UInt8(ascii: "/") { line = 0 }
            case UInt8(ascii: "%"):
                let escape = Hexadecimal.value(text[place + 1], text[place + 2])
                place += 2
                guard let escape else { return false }
                if Alphabet.base64.holds(escape) { body.append(escape) } else { line = 0 }
            case UInt8(ascii: "&"), UInt8(ascii: "<"):
                let close: UInt8 = byte == UInt8(ascii: "&") ? UInt8(ascii: ";") : UInt8(ascii: ">")
                guard let end = (place..<place + 10).first(where: { text[$0] == close }) else { return false }
                place = end
                line = 0
            case _ where Alphabet.base64.holds(byte):
                body.append(byte)
                line += 1
                longest = max(longest, line)
            case 0, 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: ","),
                UInt8(ascii: ">"), UInt8(ascii: "#"), UInt8(ascii: "*"), UInt8(ascii: "|"):
                line = 0
            case UInt8(ascii: ":") where isField(body):
                place = endOfLine(text, from: place)
                (line, body, longest) = (0, [], 0)
            case UInt8(ascii: "-") where body.suffix(4).elementsEqual("Proc".utf8):
                return text.holds("-Type:", at: place)
            default: return isKey(body, longest)
            }
            place += 1
        }
        return isKey(body, longest)
    }

    private static func isKey(_ body: [UInt8], _ longest: Int) -> Bool {
        body.count >= 40 && longest >= 30 && Set(body).count >= 10
    }

    /// Whether a line is a header field of OpenPGP armor or SSH2.
    private static func isField(_ body: [UInt8]) -> Bool {
        ["Version", "Comment", "Hash", "Charset", "MessageID", "Subject"].contains {
            body.suffix($0.utf8.count).elementsEqual($0.utf8)
        }
    }

    private static func endOfLine(_ text: ByteText, from start: Int) -> Int {
        (start..<start + 200).first { place in
            text[place] == 0x0A || text[place] == UInt8(ascii: "\\") && text[place + 1] == UInt8(ascii: "n")
        } ?? start
    }
}

/// Detects a JSON Web Key with its private part.
enum JWKText {
    private static let reach = 3_000

    /// - Parameter place: The position of `kty`.
    static func isPrivate(in text: ByteText, at place: Int) -> Bool {
        guard let kind = value(text, behind: place + 3) else { return false }
        let isSecret = text.holds("oct", at: kind)
        guard isSecret || text.holds("EC", at: kind) || text.holds("RSA", at: kind) || text.holds("OKP", at: kind)
        else {
            return false
        }
        let name: UInt8 = isSecret ? UInt8(ascii: "k") : UInt8(ascii: "d")
        return (place - reach..<place + reach).contains { place in
            guard text[place] == name, let before = text[place - 1], !Alphabet.base64URL.holds(before),
                before != UInt8(ascii: "."), let start = value(text, behind: place + 1)
            else { return false }
            let count = text.count(of: .base64URL, from: start, atMost: 2_000)
            return count >= (isSecret ? 22 : 42) && text.isRandom(start..<start + count)
        }
    }

    /// The start of a member's text, after `":"`.
    ///
    /// The name may have quotes, also escaped ones, or none.
    private static func value(_ text: ByteText, behind end: Int) -> Int? {
        func quotes(_ start: Int) -> Int {
            var place = start
            while let byte = text[place], [0x22, 0x27, 0x5C, 0x60].contains(byte) { place += 1 }
            return place
        }
        let colon = text.skipSpaces(from: quotes(end))
        guard text[colon] == UInt8(ascii: ":") else { return nil }
        let open = text.skipSpaces(from: colon + 1)
        let start = quotes(open)
        return start > open ? start : nil
    }
}

/// Decodes the two hex digits of a URL escape.
private enum Hexadecimal {
    static func value(_ high: UInt8?, _ low: UInt8?) -> UInt8? {
        guard let high, let low else { return nil }
        return UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
    }
}

extension [UInt8] {
    /// The decoded bytes of all complete base64 groups.
    fileprivate var base64Decoded: [UInt8] {
        var (bits, count, bytes): (UInt32, Int, [UInt8]) = (0, 0, [])
        for byte in self {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return bytes
            }
            (bits, count) = (bits << 6 & 0xFF_FFFF | UInt32(value), count + 1)
            if count == 4 {
                bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)]
                (bits, count) = (0, 0)
            }
        }
        return bytes
    }
}
