import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import ServerRecords

/// What the release service and those who hold keys read.
extension Worst {
    static let drafts = [
        draft("trust draft: 256 keys in its root, 40,000 targets") {
            let keys = object("keys", 256, keyRow)
            let targets = object("targets", 40_000) {
                #""production/\#($0)":{"length":1,"hashes":{"sha256":"\#(hex($0))"}}"#
            }
            return (text(#""_type":"root","#, keys), text(#""_type":"targets","#, targets))
        },
        draft("trust draft: 5 MB of empty arrays") {
            (#""_type":"root""#, text(#""_type":"targets","#, array("x", 900_000) { _ in "[]" }))
        },
    ]

    static let logs = [
        log("audit log: 100,000 entries") {
            100_000 - $0
        } previous: { _ in
            hex(0)
        },
        log("audit log: 100,000 entries of one number") { _ in
            1
        } previous: {
            hex($0)
        },
        log("audit log: 100,000 entries up to number 2^53 - 1") {
            (1 << 53 - 1) - 90_000_000_000 * $0
        } previous: { _ in
            hex(0)
        },
        Worst(name: "audit log: an entry of 16 MB", limit: AuditLines.lineLimit) {
            Array(text(auditEntry(1, hex(0), text(",", object("x", 900_000) { "\"\($0)\":0" })), "\n").utf8)
        } read: {
            audit($0)
        },
    ]

    static let keys = [
        Worst(name: "PEM: 2,147,483,647 rounds of PBKDF2", limit: Limits.keyFile) {
            pem(rounds: 2_147_483_647)
        } read: {
            opened($0)
        },
        Worst(name: "PEM: 4,000,000 rounds of PBKDF2", limit: Limits.keyFile) {
            encrypted(roundsKey)
        } read: {
            opened($0)
        },
        Worst(name: "PEM: scrypt over 2,097,152 blocks", limit: Limits.keyFile) {
            encrypted(scryptKey)
        } read: {
            opened($0)
        },
    ]
}

private func draft(_ name: String, _ roles: @escaping @Sendable () -> (root: String, targets: String)) -> Worst {
    Worst(name: name, limit: Limits.trustDraft) {
        let (root, targets) = roles()
        let head = #"{"format":"\#(TrustDraft.format)","app":"a","base":null,"root":"#
        return Array(head.utf8) + envelope(root) + Array(#","targets":"#.utf8) + envelope(targets) + Array("}".utf8)
    } read: { bytes in
        outcome {
            let draft = try TrustDraft(bytes)
            if let root = draft.root { _ = try? RootRole(root) }
            if let targets = draft.targets { _ = try TargetsRole(targets, name: "targets") }
        }
    }
}

private func log(
    _ name: String,
    number: @escaping @Sendable (Int) -> Int,
    previous: @escaping @Sendable (Int) -> String
) -> Worst {
    // Read piece by piece, however long it is.
    Worst(name: name, limit: .max) {
        Array((0..<100_000).map { auditEntry(number($0), previous($0), "") + "\n" }.joined().utf8)
    } read: {
        audit($0)
    }
}

private func auditEntry(_ number: Int, _ previous: String, _ members: String) -> String {
    #"{"number":\#(number),"time":"2026-01-01T00:00:00Z","actor":{"kind":"server"},"action":"x","before":null,"#
        + #""after":null,"previous":"\#(previous)","hash":"\#(hex(number))"\#(members)}"#
}

private func audit(_ bytes: [UInt8]) -> String {
    var lines = AuditLines()
    for start in stride(from: 0, to: bytes.count, by: 65_536) {
        lines.take(Array(bytes[start..<min(bytes.count, start + 65_536)]))
    }
    return "\(lines.finish().faults.count) faults"
}

private func opened(_ pem: [UInt8]) -> String {
    outcome { _ = try PrivateKey(pem: pem, passphrase: "x") }
}

/// Says that it takes so many rounds; by its bytes it was made with another count.
private func pem(rounds: Int) -> [UInt8] {
    var key = Base64.bytes(pbkdf2Key) ?? []
    for place in 0..<4 { key[45 + place] = UInt8(truncatingIfNeeded: rounds >> (24 - 8 * place)) }
    return encrypted(Base64.text(key))
}

private func encrypted(_ base64: String) -> [UInt8] {
    var lines = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    var rest = base64[...]
    while !rest.isEmpty {
        lines += rest.prefix(64) + "\n"
        rest = rest.dropFirst(64)
    }
    return Array((lines + "-----END ENCRYPTED PRIVATE KEY-----\n").utf8)
}

private let pbkdf2Key =
    "MIHuMFkGCSqGSIb3DQEFDTBMMCsGCSqGSIb3DQEFDDAeBAiVN24Zh2HJeAIEAJiW"
    + "gDAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQJWVW8qI4jQ2AvBft1B6bggSB"
    + "kDWKsJ/Do1mGgTOETxWRCBpdj8F7CJhoakhbjPbh8E9Vt6J285cx+cZ4fHCJqYAU"
    + "Bo3Cx0g7IwiY/sB/wex9hndT4P9zXltmG7eObssdxLyc3fXacP10WsNa8gZjbdnA"
    + "kFCDCrhy+z9QoTIJrVjHg88n1qHJ3Ixm27f+2X3kuG97FDa16HRVAY9C/eeT6Poj"
    + "kw=="

/// 4,000,000 rounds.
private let roundsKey =
    "MIHtMFgGCSqGSIb3DQEFDTBLMCoGCSqGSIb3DQEFDDAdBAgnrAIarXA9OgIDPQkA"
    + "MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBCQmM0vUry/x2DfldL56esFBIGQ"
    + "h+xYDab2PcHQgbbfn6RKY+xZp2EfNkcRkBe/RfY0dY1hy+scueCjHQj2tOHbSCT2"
    + "kciNJWKiwAX+VXkBst9GqdJj2DLdkhHPGGDO/qFLz4qhnjfLm7LK2McjBgSDmAJH"
    + "D2gySOZXwJ5QQ5/0DrQ8tplQ1lMleFfBwMYf+8yV7XQgTNoimcLPRJlsGKR7qrNA"

/// N 16,384, r 8, p 16.
private let scryptKey =
    "MIHkME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAg2kcXI8RAP6QICQAAC"
    + "AQgCARAwHQYJYIZIAWUDBAEqBBCMYgcE8cWLRaILZTHr/xz0BIGQ2JemFyp8OIBF"
    + "XBYTk6mtk6JYdYAgyeRoAltRYWjM4Kzbh8wMUI+z0OmyH6MtgdsaI0oFkKoBcGiE"
    + "0a1CfPVh4LOMKqxN/vJO9hbsbbjugCaU9k56LS0hI32ue8FxFlD6szhR/tM4k79P"
    + "8tytEUlv1rZtsbqdkXIde2kCMZuxZxgySfx0gGZw6nMmBS8RTCE5"
