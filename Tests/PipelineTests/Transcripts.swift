import Foundation
import Testing

/// What people see of the programs, in files beside the tests.
enum Transcripts {
    private static let tests = #filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined() + "/"

    /// - Parameter name: below `Tests`, without `.txt`.
    static func text(_ name: String) throws -> String {
        let bytes = try #require(FileManager.default.contents(atPath: tests + name + ".txt"), "there is no \(name).txt")
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Transcripts {
    /// Fails where `text` is not what the file says; with `PATCHLINE_TRANSCRIPTS=write` the file is written: `make transcripts`.
    static func check(_ name: String, _ text: String) throws {
        if ProcessInfo.processInfo.environment["PATCHLINE_TRANSCRIPTS"] == "write" {
            try Data(text.utf8).write(to: URL(filePath: tests + name + ".txt"))
            return
        }
        let (old, new) = (lines(try self.text(name)), lines(text))
        guard old != new else { return }
        let place = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
        func line(_ lines: [Substring]) -> Substring { place < lines.count ? lines[place] : "(the end)" }
        Issue.record(
            """
            \(name).txt:\(place + 1) says: \(line(old))
            and what people see is: \(line(new))
            Where that is meant, `make transcripts` writes it anew.
            """
        )
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
