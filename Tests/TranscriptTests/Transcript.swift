import FoundationEssentials
import Testing

/// What people see of one program or one subject, as it stands in a file beside these tests.
///
/// With `PATCHLINE_TRANSCRIPTS=write` the file is written in place of being compared: `make transcripts`.
struct Transcript {
    private static let folder =
        #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/Transcripts/"

    private let name: String
    private var text: String

    /// - Parameter about: what stands in it, in one sentence.
    init(_ name: String, about: String) {
        self.name = name
        text = "# \(about)\n# `make transcripts` writes this file.\n"
    }

    /// Entries one below the other, each with a line of its own between it and the next.
    mutating func section(_ title: String, _ entries: [String]) {
        text += "\n== \(title)\n"
        for entry in entries { text += "\n\(entry)\n" }
    }

    /// Short entries, a line each.
    mutating func list(_ title: String, _ lines: [String]) {
        text += "\n== \(title)\n\n" + lines.map { $0 + "\n" }.joined()
    }

    /// Fails where the file says something else.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let path = Self.folder + name + ".txt"
        let url = URL(filePath: path)
        if ProcessInfo.processInfo.environment["PATCHLINE_TRANSCRIPTS"] == "write" {
            try Data(text.utf8).write(to: url)
            return
        }
        let kept = try String(decoding: Data(contentsOf: url), as: UTF8.self)
        guard kept != text else { return }
        let (old, new) = (Self.lines(kept), Self.lines(text))
        let place = zip(old, new).enumerated().first { $1.0 != $1.1 }?.offset ?? min(old.count, new.count)
        func line(_ lines: [Substring]) -> Substring { place < lines.count ? lines[place] : "(the end)" }
        Issue.record(
            """
            \(name).txt:\(place + 1) says: \(line(old))
            and what people see is: \(line(new))
            Where that is meant, `make transcripts` writes it anew.
            """,
            sourceLocation: sourceLocation
        )
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(separator: "\n", omittingEmptySubsequences: false)
    }
}
