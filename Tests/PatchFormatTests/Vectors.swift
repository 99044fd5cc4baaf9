import FoundationEssentials
import PatchFormat
import Testing

/// The files of `Tests/Vectors`, which other implementations read too.
enum Vectors {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func text(_ name: String) throws -> String {
        let text = String(decoding: try bytes(name), as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    static func json(_ name: String) throws -> JSON {
        try JSON(parsing: try bytes(name))
    }

    /// The members of `rows` in a table of examples.
    static func rows(_ name: String) throws -> [Fields] {
        try Fields(try json(name), of: name).array("rows", limit: 1_000).map { try Fields($0, of: name) }
    }

    /// File names in a folder that end in `ending`, without it, sorted.
    ///
    /// Empty when there is no such folder.
    static func names(in name: String, ending: String) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)
        return (found ?? []).filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
    }
}
