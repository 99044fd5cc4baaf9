import FoundationEssentials
import PatchFormat
import PatchTrust

let app: AppID = named("com.example.storefront")
let production: ChannelName = named("production")
let web: PatchID = named("web")

/// A name that the test wrote itself.
func named<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

func time(_ text: String) -> UTCTime {
    guard let time = UTCTime(text) else { preconditionFailure("\(text) is no time") }
    return time
}

/// The files of `Tests/Vectors`.
enum Vectors {
    private static let folder = repository.appending(path: "Tests/Vectors")

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

    /// File names in `folder` that end in `ending`, without it; sorted.
    static func names(in name: String, ending: String) -> [String] {
        let found = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: name).path)
        return (found ?? []).filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
    }
}

extension JSON {
    /// A copy with the value at `place` (`patches.0.size`) set, or taken out by nil.
    func setting(_ place: String, to value: JSON?) -> JSON {
        setting(place.split(separator: ".").map(String.init)[...], to: value)
    }

    /// For keys with dots: each step by itself.
    func setting(_ steps: ArraySlice<String>, to value: JSON?) -> JSON {
        guard let step = steps.first else { return value ?? .null }
        let rest = steps.dropFirst()
        switch self {
        case .object(var object):
            object[step] = rest.isEmpty ? value : (object[step] ?? .object(JSONObject())).setting(rest, to: value)
            return .object(object)
        case .array(var values):
            guard let index = Int(step), values.indices.contains(index) else { preconditionFailure("no row \(step)") }
            values[index] = values[index].setting(rest, to: value)
            return .array(values)
        case .null, .bool, .integer, .string: preconditionFailure("nothing stands below \(self)")
        }
    }

    /// A copy in which the first character of the string at `place` is another digit.
    func flipping(_ place: String) -> JSON {
        let found = place.split(separator: ".").reduce(self) { value, step in
            switch value {
            case .object(let object): object[String(step)] ?? .null
            case .array(let values): values[Int(step) ?? 0]
            case .null, .bool, .integer, .string: .null
            }
        }
        guard case .string(let string) = found else { preconditionFailure("no string at \(place)") }
        return setting(place, to: .text((string.text.hasPrefix("0") ? "1" : "0") + string.text.dropFirst()))
    }
}

extension [UInt8] {
    /// A copy with one bit the other way round.
    func flippingBit(_ bit: Int) -> [UInt8] {
        var bytes = self
        bytes[bit / 8] ^= 1 << (bit % 8)
        return bytes
    }
}
