package import PatchChoice
package import PatchFormat

/// A line read from a store's log.
package struct LogLine: Equatable, Sendable {
    package let time: UTCTime
    package let event: String
    /// The program that wrote it: `sync`, `serve`, `run`.
    package let program: String
    package let type: Int
    package let text: String
    package let json: JSON

    /// Nil if the line was not written by Patchline.
    package init?(_ json: JSON) {
        guard case .string(let time)? = json["at"], let time = UTCTime(time.text),
            case .string(let event)? = json["event"],
            case .string(let program)? = json["by"], case .integer(let type)? = json["type"],
            case .string(let text)? = json["text"]
        else { return nil }
        (self.time, self.event, self.program, self.type) = (time, event.text, program.text, type)
        (self.text, self.json) = (text.text, json)
    }
}

/// A summary of a store's log.
package struct LogDigest: Equatable, Sendable {
    /// The last error.
    package let lastError: LogLine?
    /// The number of failed syncs since the last successful one.
    package let failuresInARow: Int
    package let last: [LogLine]

    /// - Parameter lines: The lines, oldest first.
    package init(_ lines: [LogLine]) {
        // The types 6 and 7: a failed update, and a problem of the device.
        lastError = lines.last { (6...7).contains($0.type) }
        let since = lines.lastIndex { $0.event == "synced" }.map { lines.index(after: $0) } ?? lines.startIndex
        failuresInARow = lines[since...].count { $0.event == "trouble" && $0.type == 6 && $0.json["patchId"] == nil }
        last = lines.suffix(10)
    }

    /// - Parameter explanation: The reason for each listed version why it is or is not installed.
    package func json(_ explanation: Explanation?) -> JSON {
        .fields([
            ("versions", explanation.map { .array($0.versions.map(\.json)) }), ("lastError", lastError?.json),
            ("failuresInARow", .integer(failuresInARow)),
            ("log", .array(last.map(\.json))),
        ])
    }
}
