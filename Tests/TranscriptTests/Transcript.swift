import PatchTesting
import Testing

/// What people see of one program or one subject, as it stands in a file beside these tests.
struct Transcript {
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
        guard let difference = try KeptText("TranscriptTests/Transcripts/\(name)").difference(to: text) else { return }
        Issue.record("\(difference)", sourceLocation: sourceLocation)
    }
}
