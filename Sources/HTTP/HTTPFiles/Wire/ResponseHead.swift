import HTTPCore
import NIOCore
import NIOHTTP1

extension Response {
    /// How a client finds the end of the body (RFC 9112 §6.3).
    enum Framing: Equatable, Sendable {
        /// There is no body, and no field describes one.
        case none
        case length(Int)
        case chunked
        /// For HTTP/1.0, which has no chunks.
        case connectionEnd
    }

    func framing(minorVersion: Int) -> Framing {
        guard hasContent else { return .none }
        if let count = body.count { return .length(count) }
        return minorVersion >= 1 ? .chunked : .connectionEnd
    }

    /// The status line, all fields and the empty line, as they are sent (RFC 9112 §4).
    ///
    /// Only this function decides the framing. A field whose name is not a token is left out, and characters that a value must not
    /// contain become spaces (RFC 9110 §5.5), so that no source can split a response. A stream's fields are not changed.
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

    /// Returns any status line with exactly these fields.
    static func head(_ status: HTTPResponseStatus, _ fields: HTTPHeaders) -> ByteBuffer {
        var text: [UInt8] = Array("HTTP/1.1 \(status.code) ".utf8)
        text += Self.value(status.reasonPhrase) + "\r\n".utf8
        for (name, value) in fields where !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter) {
            text += Array(name.utf8) + ": ".utf8 + Self.value(value) + "\r\n".utf8
        }
        return ByteBuffer(bytes: text + "\r\n".utf8)
    }

    /// False for 204 and 304.
    ///
    /// A 204 must not have a Content-Length, and a 304 need not have one (RFC 9110 §8.6).
    var hasContent: Bool { status.code != 204 && status.code != 304 }

    private static func value(_ text: String) -> [UInt8] {
        text.utf8.map { $0.isFieldValueCharacter ? $0 : 0x20 }
    }
}
