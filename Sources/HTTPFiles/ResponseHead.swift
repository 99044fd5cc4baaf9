import NIOCore
import NIOHTTP1

extension Response {
    /// The status line and all fields, as they go on the wire, with the empty line (RFC 9112 §4).
    ///
    /// The framing is decided here and nowhere else. A field whose name is no token is left out, and what a value may
    /// not hold becomes a space (RFC 9110 §5.5), so that no source can split a response.
    func head(keepAlive: Bool, date: String) -> ByteBuffer {
        var fields = headers
        for name in ["Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"] { fields.remove(name: name) }
        fields.replaceOrAdd(name: "Date", value: date)
        fields.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
        if hasContent { fields.add(name: "Content-Length", value: String(body.count)) }
        fields.add(name: "Connection", value: keepAlive ? "keep-alive" : "close")

        var text: [UInt8] = Array("HTTP/1.1 \(status.code) ".utf8)
        text += Self.value(status.reasonPhrase) + "\r\n".utf8
        for (name, value) in fields where !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter) {
            text += Array(name.utf8) + ": ".utf8 + Self.value(value) + "\r\n".utf8
        }
        return ByteBuffer(bytes: text + "\r\n".utf8)
    }

    /// 204 and 304 have no content; 204 must not have a Content-Length and 304 need not (RFC 9110 §8.6).
    var hasContent: Bool { status.code != 204 && status.code != 304 }

    private static func value(_ text: String) -> [UInt8] {
        text.utf8.map { $0.isFieldValueCharacter ? $0 : 0x20 }
    }
}
