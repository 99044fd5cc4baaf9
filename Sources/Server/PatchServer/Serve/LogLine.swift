package import HTTPFiles
package import PatchFormat

/// The format of a server's logs.
package enum LogFormat: String, CaseIterable, Sendable {
    case text, json
}

/// One line of a server's log.
///
/// ```
/// 2026-11-20T08:00:00.250Z 127.0.0.1 "GET /a" 200 12 3ms "curl/8"
/// 2026-11-20T08:00:00.250Z warning com.example.storefront: cannot sign again: the disk is full
/// {"bytes":12,"event":"request","level":"info","method":"GET",…,"time":"2026-11-20T08:00:00.250Z"}
/// ```
///
/// Clients cannot end the line or send control codes to a terminal.
package struct LogLine: Sendable {
    package enum Level: String, Sendable {
        case info, warning, error
    }

    package enum Content: Sendable {
        case request(AccessLogEntry)
        /// One sentence, made printable by the caller; about one app or about the server.
        case message(String, app: AppID?)
    }

    private let time: UTCTime
    private let milliseconds: Int
    private let level: Level
    private let content: Content

    /// - Parameter time: when the response ended.
    package init(_ level: Level, _ content: Content, at time: (time: UTCTime, milliseconds: Int)) {
        (self.time, self.milliseconds) = time
        (self.level, self.content) = (level, content)
    }

    /// A response, logged as an error if the server caused the failure.
    package init(_ entry: AccessLogEntry, at time: (time: UTCTime, milliseconds: Int)) {
        self.init(entry.status >= 500 ? .error : .info, .request(entry), at: time)
    }

    package func text(_ format: LogFormat) -> String {
        switch (format, content) {
        case (.json, _): json
        case (.text, .request(let entry)): "\(timeText) \(entry.line)"
        case (.text, .message(let message, let app)):
            "\(timeText) \(level.rawValue) \(app.map { "\($0): " } ?? "")\(message)"
        }
    }

    /// RFC 3339 with milliseconds.
    private var timeText: String {
        let digits = "\(milliseconds)"
        return "\(time)".dropLast() + "." + String(repeating: "0", count: 3 - digits.utf8.count) + digits + "Z"
    }

    private var json: String {
        let common: [(String, JSON?)] = [("time", .text(timeText)), ("level", .text(level.rawValue))]
        switch content {
        case .request(let entry): return JSON.fields(common + entry.members).asciiLine
        case .message(let message, let app):
            let members: [(String, JSON?)] = [
                ("event", .text("message")), ("app", app.map { .text($0.text) }), ("message", .text(message)),
            ]
            return JSON.fields(common + members).asciiLine
        }
    }
}

extension AccessLogEntry {
    fileprivate var members: [(String, JSON?)] {
        let (seconds, attoseconds) = duration.components
        return [
            ("event", .text("request")), ("remote", .text(remoteAddress)), ("method", .text(method)),
            ("target", .text(target)), ("status", .integer(status)), ("bytes", .integer(bodyBytes)),
            ("microseconds", .integer(Int(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))),
            ("agent", userAgent.map { .text($0) }),
        ]
    }
}

extension JSON {
    /// One line of printable ASCII, with all other characters escaped: a log is then safe on a terminal too.
    fileprivate var asciiLine: String {
        var line = ""
        for scalar in String(decoding: fileBytes, as: UTF8.self).unicodeScalars {
            if (0x20..<0x7F).contains(scalar.value) {
                line.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                line += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
            }
        }
        return line
    }
}
