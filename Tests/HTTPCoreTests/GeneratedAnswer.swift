import PatchTesting

/// An answer that a seed stands for: sound, or wrong somewhere, cut somewhere.
struct GeneratedAnswer: Sendable {
    let bytes: [UInt8]
    let script: Script

    init(seed: UInt64) {
        var maker = Maker(random: SeededGenerator(state: seed))
        bytes = maker.bytes()
        script = Script(maker.cut(bytes), maker.end())
    }

    /// What it says by RFC 9112; over TLS a body ends with its connection only where TLS says so (§9.8).
    func reading(overTLS: Bool) -> AnswerReading {
        AnswerReading(bytes, isClosed: script.end == .closes || script.end == .breaks && !overTLS)
    }
}

private struct Maker {
    var random: SeededGenerator

    mutating func bytes() -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<one(of: [0, 0, 0, 0, 0, 1, 2, 33]) { bytes += interim() }
        bytes += answer()
        switch Int.random(in: 0..<8, using: &random) {
        case 0: bytes += answer()
        case 1: bytes += noise(upTo: 40)
        default: break
        }
        if chance(in: 4) { damage(&bytes) }
        return bytes
    }

    mutating func end() -> Script.End { one(of: [.stays, .closes, .closes, .breaks, .resets]) }

    /// In at most nine pieces.
    mutating func cut(_ bytes: [UInt8]) -> [[UInt8]] {
        var cuts = Set((0..<Int.random(in: 0...8, using: &random)).map { _ in place(in: bytes) })
        // Heads are where most can go wrong.
        if chance(in: 2) { cuts.insert(min(bytes.count, Int.random(in: 0...40, using: &random))) }
        let edges = [0] + cuts.sorted() + [bytes.count]
        return zip(edges, edges.dropFirst()).filter { $0 < $1 }.map { Array(bytes[$0..<$1]) }
    }

    private mutating func interim() -> [UInt8] {
        let status = one(of: ["100", "102", "103", "199", "150"])
        let fields = one(of: ["", "Link: </x>\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"])
        return Array("HTTP/1.1 \(status) \(one(of: ["Continue", "Early Hints", ""]))\r\n\(fields)\r\n".utf8)
    }

    private mutating func answer() -> [UInt8] {
        let body = self.body()
        var head = statusLine() + "\r\n"
        for _ in 0..<Int.random(in: 0...3, using: &random) { head += field() + "\r\n" }
        let (framing, framed) = frame(body)
        head += framing.map { $0 + "\r\n" }.joined()
        if chance(in: 6) { head += field() + "\r\n" }
        return Array((head + "\r\n").utf8) + framed
    }

    private mutating func statusLine() -> String {
        let version =
            chance(in: 8)
            ? one(of: ["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.9", "http/1.1", "ICY", "HTTP/11", "HTTP/1.1 "])
            : "HTTP/1.1"
        let status =
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5: "200"
            case 6: one(of: ["000", "001", "042", "099"])
            case 7: one(of: ["100", "101", "103", "199", "204", "205", "206", "304"])
            case 8: one(of: ["301", "307", "404", "416", "429", "500", "503", "599", "600", "999"])
            default: one(of: ["0", "00", "-1", "1000", "1xx", "2 0", "", "+200", "2００", "0200", "20"])
            }
        return "\(version) \(status)" + one(of: [" OK", " OK", "", " ", " \u{FFFD}\u{7F}", " a b  c"])
    }

    private mutating func field() -> String {
        if chance(in: 30) { return "X-Long: " + String(repeating: "a", count: one(of: [8_192, 81_919, 90_000])) }
        if chance(in: 40) { return (0..<300).map { "X-\($0): \($0)" }.joined(separator: "\r\n") }
        return one(of: [
            "Content-Type: text/plain", "ETag: \"abc\"", "Connection: close", "Connection: keep-alive", "X: y",
            "Connection: Upgrade\r\nUpgrade: websocket", "Upgrade: websocket", "Retry-After: 9999999999999999999999",
            "Location: //x/%", "Content-Encoding: gzip", "X-Empty:", ": nameless", "no colon", "Folded: a\r\n  b",
            "\tX: y", "X : y", "X\u{0}Y: z", "X: \u{0}", "X: \u{80}\u{FF}", "Trailer: X", "Content-Range: bytes 0-0/1",
            "X: a\rb", "X: a\nY: b", "Keep-Alive: timeout=0", "Set-Cookie: a=b", "Sec-WebSocket-Accept: x",
        ])
    }

    private mutating func body() -> [UInt8] {
        let count = one(of: [0, 1, 5, 10, 100, 1_000, 4_096, 4_097, 70_000])
        return (0..<count).map { _ in UInt8(ascii: "a") + UInt8.random(in: 0..<26, using: &random) }
    }

    private mutating func frame(_ body: [UInt8]) -> ([String], [UInt8]) {
        let length = "Content-Length: \(body.count)"
        switch Int.random(in: 0..<14, using: &random) {
        case 0...3: return ([length], body)
        case 4: return ([], body)
        case 5: return (["Content-Length: \(body.count + one(of: [-1, 1, 10, 1_000_000_000_000]))"], body)
        case 6: return ([length, one(of: [length, "Content-Length: 3"])], body)
        case 7:
            let odd = ["-5", "+5", "0x5", "5, 5", "5 5", "18446744073709551616", "9223372036854775808", "", " ", "5;"]
            return (["Content-Length: \(one(of: odd))"], body)
        case 8...11: return (["Transfer-Encoding: \(chance(in: 8) ? "Chunked" : "chunked")"], chunks(of: body))
        case 12: return (["Transfer-Encoding: chunked", length], chunks(of: body))
        default:
            let odd = [
                "gzip", "chunked, gzip", "gzip, chunked", "chunked, chunked", "identity", "xchunked", ",chunked",
            ]
            return (["Transfer-Encoding: \(one(of: odd))"], chance(in: 2) ? body : chunks(of: body))
        }
    }

    private mutating func chunks(of body: [UInt8]) -> [UInt8] {
        var (framed, rest) = ([UInt8](), body[...])
        while !rest.isEmpty {
            let chunk = rest.prefix(Int.random(in: 1...max(1, body.count), using: &random))
            rest = rest.dropFirst(chunk.count)
            let size = String(chunk.count, radix: 16, uppercase: chance(in: 2))
            let mark = chance(in: 10) ? one(of: [";a", ";a=b", ";a=\"b\"", " ", ";", "\t", "g", "\n"]) : ""
            framed += Array("\(chance(in: 10) ? "0" : "")\(size)\(mark)\r\n".utf8) + chunk
            framed += Array((chance(in: 30) ? one(of: ["", "x\r\n", "\n", "\r"]) : "\r\n").utf8)
        }
        if chance(in: 12) { return framed }
        let trailers = one(of: [
            "", "", "X: y\r\n", "X:\r\n", "A: b\r\n c\r\n", "no colon\r\n", ":\r\n", "Content-Length: 9\r\n",
        ])
        return framed + Array("0\r\n\(trailers)\r\n".utf8)
    }

    private mutating func damage(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let at = chance(in: 2) ? min(bytes.count, Int.random(in: 0...80, using: &random)) : place(in: bytes)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: if at < bytes.count { bytes[at] = .random(in: 0...255, using: &random) }
            case 1: if at < bytes.count { bytes.remove(at: at) }
            case 2: bytes.insert(contentsOf: noise(upTo: 4), at: at)
            case 3: bytes.removeSubrange(at...)
            default: bytes.insert(contentsOf: Array(bytes[at...].prefix(30)), at: at)
            }
        }
    }

    private mutating func noise(upTo count: Int) -> [UInt8] {
        (0..<Int.random(in: 0...count, using: &random)).map { _ in
            chance(in: 2) ? one(of: Array("\r\n \t:;0HTP/1.".utf8)) : .random(in: 0...255, using: &random)
        }
    }

    private mutating func place(in bytes: [UInt8]) -> Int { Int.random(in: 0...bytes.count, using: &random) }

    private mutating func chance(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

    private mutating func one<Value>(of values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }
}
