import PatchFormat

/// A name that the test wrote itself.
func named<Name: ParsedName>(_ text: String) -> Name {
    guard let name = Name(text) else { preconditionFailure("\(text): \(Name.rule)") }
    return name
}

func path(_ text: String) -> AssetPath {
    do throws(AssetPath.Problem) {
        return try AssetPath(text)
    } catch { preconditionFailure("\(text) \(error.rawValue)") }
}

func time(_ text: String) -> UTCTime {
    guard let time = UTCTime(text) else { preconditionFailure("\(text) is no time") }
    return time
}

func version(_ text: String) -> AppVersion {
    guard let version = AppVersion(text) else { preconditionFailure("\(text) \(AppVersion.rule)") }
    return version
}

/// A digest whose bytes are all `byte`.
func digest<Algorithm>(of byte: UInt8, _ type: Digest<Algorithm>.Type = Digest<Algorithm>.self) -> Digest<Algorithm> {
    guard let digest = Digest<Algorithm>(bytes: Array(repeating: byte, count: Algorithm.byteCount)) else {
        preconditionFailure("\(Algorithm.name) has another length")
    }
    return digest
}

extension Fingerprint {
    /// Told apart by one byte.
    static func sample(_ byte: UInt8, size: Int = 10) -> Fingerprint {
        Fingerprint(size: size, md5: digest(of: byte), sha1: digest(of: byte), sha256: digest(of: byte))
    }
}

extension JSON {
    /// A copy with the value at `place` (`patches.0.size`) set, or taken out by nil.
    func setting(_ place: String, to value: JSON?) -> JSON {
        setting(place.split(separator: ".").map(String.init)[...], to: value)
    }

    private func setting(_ steps: ArraySlice<String>, to value: JSON?) -> JSON {
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

    func at(_ place: String) -> JSON {
        place.split(separator: ".").reduce(self) { value, step in
            switch value {
            case .object(let object): object[String(step)] ?? .null
            case .array(let values): values[Int(step) ?? 0]
            case .null, .bool, .integer, .string: .null
            }
        }
    }
}

extension String {
    func times(_ count: Int) -> String {
        String(repeating: self, count: count)
    }
}
