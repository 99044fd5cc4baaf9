import FoundationEssentials
package import PatchFormat

/// A name that the test wrote itself.
package func named<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

/// The files of `Tests/Vectors`, which other implementations read too.
package enum Vectors {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    package static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    package static func text(_ name: String) throws -> String {
        let text = String(decoding: try bytes(name), as: UTF8.self)
        return text.hasSuffix("\n") ? String(text.dropLast()) : text
    }

    package static func json(_ name: String) throws -> JSON {
        try JSON(parsing: try bytes(name))
    }

    /// The members of `rows` in a table of examples.
    package static func rows(_ name: String) throws -> [Fields] {
        try Fields(try json(name), of: name).array("rows", limit: 1_000).map { try Fields($0, of: name) }
    }

    /// File names in a folder that end in `ending`, without it, sorted.
    ///
    /// Empty when there is no such folder.
    package static func names(in name: String, ending: String) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)
        return (found ?? []).filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
    }
}

extension JSON {
    /// A copy with the value at `place` (`patches.0.size`) set, or taken out by nil.
    package func setting(_ place: String, to value: JSON?) -> JSON {
        setting(place.split(separator: ".").map(String.init)[...], to: value)
    }

    /// For keys with dots: each step by itself.
    package func setting(_ steps: ArraySlice<String>, to value: JSON?) -> JSON {
        guard let step = steps.first else { return value ?? .null }
        let rest = steps.dropFirst()
        switch self {
        case .object(var object):
            object[step] = rest.isEmpty ? value : (object[step] ?? .object(JSONObject())).setting(rest, to: value)
            return .object(object)
        case .array(var values):
            guard let index = Int(step), values.indices.contains(index) else { preconditionFailure("no row \(step)") }
            if rest.isEmpty, value == nil {
                values.remove(at: index)
            } else {
                values[index] = values[index].setting(rest, to: value)
            }
            return .array(values)
        case .null, .bool, .integer, .string: preconditionFailure("nothing stands below \(self)")
        }
    }

    package func at(_ place: String) -> JSON {
        place.split(separator: ".").reduce(self) { value, step in
            switch value {
            case .object(let object): object[String(step)] ?? .null
            case .array(let values): values[Int(step) ?? 0]
            case .null, .bool, .integer, .string: .null
            }
        }
    }
}
