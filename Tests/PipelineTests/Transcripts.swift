import FoundationEssentials
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
