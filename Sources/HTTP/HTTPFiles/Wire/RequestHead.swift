import HTTPCore
import NIOHTTP1

/// The request line and the fields of one request, checked byte by byte (RFC 9112 §3 and §5).
///
/// NIO's decoder is not used: it has a single error for cases that need different answers (400, 414, 431, 501), and it reads ahead
/// into pipelined requests. Nothing is repaired, because different repairs by two parsers make request smuggling possible: no line
/// folding, no space before a colon, no bare CR or LF, exactly one Host.
struct RequestHead: Equatable, Sendable {
    let method: HTTPMethod
    /// The target as received.
    let target: String
    /// 1 for HTTP/1.1 and above, 0 for HTTP/1.0.
    let minorVersion: Int
    let headers: HTTPHeaders

    /// - Parameter bytes: The head without its empty line. Every line ends in CRLF.
    init(parsing bytes: ArraySlice<UInt8>, maxTargetBytes: Int) throws(RequestFault) {
        var lines = Self.lines(of: bytes)[...]
        let requestLine = (lines.popFirst() ?? []).split(
            separator: UInt8(ascii: " "),
            omittingEmptySubsequences: false
        )
        guard requestLine.count == 3, !requestLine[0].isEmpty, !requestLine[1].isEmpty,
            requestLine[0].allSatisfy(\.isTokenCharacter)
        else { throw .malformed("the request line is not method, target, version") }

        minorVersion = try Self.minorVersion(requestLine[2])
        guard requestLine[1].count <= maxTargetBytes else { throw .targetTooLong }
        method = HTTPMethod(rawValue: String(decoding: requestLine[0], as: UTF8.self))
        target = String(decoding: requestLine[1], as: UTF8.self)

        var headers = HTTPHeaders()
        for line in lines {
            let (name, value) = try Self.field(line)
            headers.add(name: name, value: value)
        }
        self.headers = headers
        try Self.checkHost(headers["Host"], minorVersion: minorVersion)
    }

    func checkBody(_ framing: BodyFraming) throws(RequestFault) {
        if framing != .none, method == .GET || method == .HEAD {
            // Undefined by RFC 9110 §9.3.1, and usable for request smuggling.
            throw .malformed("a body in a GET or HEAD request")
        }
    }

    func expectsContinue() throws(RequestFault) -> Bool {
        // RFC 9110 §10.1.1: an HTTP/1.0 client cannot expect anything.
        guard minorVersion >= 1 else { return false }
        let expectations = headers["Expect"].flatMap(\.listElements)
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else { throw .unsupportedExpectation }
        return !expectations.isEmpty
    }

    /// Whether the client leaves the connection open after the answer (RFC 9112 §9.3).
    var wantsKeepAlive: Bool {
        let options = connectionOptions
        if options.contains("close") { return false }
        return minorVersion >= 1 || options.contains("keep-alive")
    }

    /// The one protocol that the client asks to switch to.
    ///
    /// Only HTTP/1.1 has such a switch (RFC 9110 §7.8).
    var upgrade: String? {
        let protocols = headers["Upgrade"].flatMap(\.listElements)
        guard minorVersion >= 1, protocols.count == 1, connectionOptions.contains("upgrade") else { return nil }
        return protocols[0].lowercased()
    }

    private var connectionOptions: [String] {
        headers["Connection"].flatMap(\.listElements).map { $0.lowercased() }
    }

    private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
    }

    private static func minorVersion(_ text: ArraySlice<UInt8>) throws(RequestFault) -> Int {
        let digits = text.dropFirst(5)
        guard text.starts(with: "HTTP/".utf8), digits.count == 3, let major = digits.first, major.isDigit,
            digits[digits.startIndex + 1] == UInt8(ascii: "."), let minor = digits.last, minor.isDigit
        else { throw .malformed("the version is not HTTP/x.y") }
        guard major == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return minor == UInt8(ascii: "0") ? 0 : 1
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(RequestFault) -> (String, String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else { throw .malformed("a field has no name") }
        let value = line[(colon + 1)...].trimmed
        guard value.allSatisfy(\.isFieldValueCharacter) else { throw .malformed("a field holds a control character") }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    /// Checks that there is exactly one Host in HTTP/1.1, at most one in HTTP/1.0, and that it contains only a host (RFC 9112
    /// §3.2).
    private static func checkHost(_ values: [String], minorVersion: Int) throws(RequestFault) {
        guard values.count == 1 || values.isEmpty && minorVersion == 0 else {
            throw .malformed("there is not exactly one Host")
        }
        // Visible ASCII without the characters that end an authority or hide one (`user@host`).
        let isHost = { (byte: UInt8) in byte > 0x20 && byte < 0x7F && !#"/?#@\"<>^`{|}"#.utf8.contains(byte) }
        guard values.allSatisfy({ $0.utf8.allSatisfy(isHost) }) else { throw .malformed("the Host is not a host") }
    }
}
