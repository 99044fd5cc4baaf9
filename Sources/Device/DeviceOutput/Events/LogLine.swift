package import PatchChoice
package import PatchFormat

/// A line of a store's log, as it is read.
package struct LogLine: Equatable, Sendable {
    package let time: UTCTime
    package let event: String
    /// Who wrote it: `sync`, `serve`, `run`.
    package let program: String
    package let type: Int
    package let text: String
    package let json: JSON

    /// Nil for what no program of ours wrote.
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

/// What a store's log says of how it goes.
package struct LogDigest: Equatable, Sendable {
    /// The last thing that went wrong.
    package let lastError: LogLine?
    /// How often a sync has failed since one was well.
    package let failuresInARow: Int
    package let last: [LogLine]

    /// - Parameter lines: oldest first.
    package init(_ lines: [LogLine]) {
        // 6 and 7: what did not come or prove itself, and what is wrong with the device.
        lastError = lines.last { (6...7).contains($0.type) }
        let since = lines.lastIndex { $0.event == "synced" }.map { lines.index(after: $0) } ?? lines.startIndex
        failuresInARow = lines[since...].count { $0.event == "trouble" && $0.type == 6 && $0.json["patchId"] == nil }
        last = lines.suffix(10)
    }

    /// - Parameter explanation: why each listed version is or is not here.
    package func json(_ explanation: Explanation?) -> JSON {
        .fields([
            ("versions", explanation.map { .array($0.versions.map(\.json)) }), ("lastError", lastError?.json),
            ("failuresInARow", .integer(failuresInARow)),
            ("log", .array(last.map(\.json))),
        ])
    }
}
