/// One response that was sent completely or in part.
package struct AccessLogEntry: Sendable {
    /// The method as received; `-` if no head could be read.
    package let method: String
    /// The target as received, with its query; `-` if no head could be read.
    package let target: String
    package let status: Int
    /// Bytes of the response's body handed to the system.
    ///
    /// Less than Content-Length if the client disconnected.
    package let bodyBytes: Int
    /// The time from the last byte read of the request to the last byte written of the response.
    package let duration: Duration
    /// The client's address without its port, or the one that a trusted proxy forwards; `-` if unknown.
    package let remoteAddress: String
    package let userAgent: String?

    package init(
        method: String,
        target: String,
        status: Int,
        bodyBytes: Int,
        duration: Duration,
        remoteAddress: String,
        userAgent: String?
    ) {
        self.method = method
        self.target = target
        self.status = status
        self.bodyBytes = bodyBytes
        self.duration = duration
        self.remoteAddress = remoteAddress
        self.userAgent = userAgent
    }

    /// One line: address, "method target", status, bytes, milliseconds, "agent".
    ///
    /// Text chosen by the client is in quotes. In it, `"`, `\` and every byte that is not visible ASCII or a space is written as
    /// `\xHH`, so that no URL can end the line, close the quotes or move a terminal's cursor.
    package var line: String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let request = Self.escaped("\(method) \(target)")
        let agent = Self.escaped(userAgent ?? "-")
        return "\(Self.escaped(remoteAddress)) \"\(request)\" \(status) \(bodyBytes) \(milliseconds)ms \"\(agent)\""
    }

    /// Returns `text` with every byte that could forge a line written as `\xHH`.
    static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), ..<0x20, 0x7F...:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
            default:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return result
    }
}
