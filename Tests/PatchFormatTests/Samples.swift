import PatchFormat

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

extension String {
    func times(_ count: Int) -> String {
        String(repeating: self, count: count)
    }
}
