import NIOCore
import NIOHTTP1

extension Response {
    /// How a client finds the end of the body (RFC 9112 §6.3).
    enum Framing: Equatable, Sendable {
        /// There is none, and no field says so.
        case none
        case length(Int)
        case chunked
        /// For HTTP/1.0, which knows no chunks.
        case connectionEnd
    }

    func framing(minorVersion: Int) -> Framing {
        guard hasContent else { return .none }
        if let count = body.count { return .length(count) }
        return minorVersion >= 1 ? .chunked : .connectionEnd
    }

    /// The status line and all fields, as they go on the wire, with the empty line (RFC 9112 §4).
    ///
    /// The framing is decided here and nowhere else. A field whose name is no token is left out, and what a value may
    /// not hold becomes a space (RFC 9110 §5.5), so that no source can split a response. A stream's fields are its own.
    func head(framing: Framing? = nil, keepAlive: Bool, date: String) -> ByteBuffer {
        var fields = headers
        for name in ["Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive"] { fields.remove(name: name) }
        if case .stream = body {
            if !fields.contains(name: "Date") { fields.add(name: "Date", value: date) }
        } else {
            fields.replaceOrAdd(name: "Date", value: date)
            fields.replaceOrAdd(name: "X-Content-Type-Options", value: "nosniff")
        }
        switch framing ?? self.framing(minorVersion: 1) {
        case .none, .connectionEnd: break
        case .length(let length): fields.add(name: "Content-Length", value: String(length))
        case .chunked: fields.add(name: "Transfer-Encoding", value: "chunked")
        }
        fields.add(name: "Connection", value: keepAlive ? "keep-alive" : "close")
        return Self.head(status, fields)
    }

    /// Any status line, with these fields and no others.
    static func head(_ status: HTTPResponseStatus, _ fields: HTTPHeaders) -> ByteBuffer {
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
