import PatchTesting
import Testing

/// What people see of the programs, in files beside the tests.
enum Transcripts {
    /// - Parameter name: below `Tests`, without `.txt`.
    static func text(_ name: String) throws -> String { try KeptText(name).text }

    static func check(_ name: String, _ text: String) throws {
        if let difference = try KeptText(name).difference(to: text) { Issue.record("\(difference)") }
    }
}
