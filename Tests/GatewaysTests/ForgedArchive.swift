import Gateways
import PatchFormat

/// A good archive of two files, and what somebody does to its bytes.
struct ForgedArchive {
    /// `a.js`, stored, and `b.js`, deflated.
    static let stored = "hello!"
    static let deflated = String(repeating: "hello, ", count: 100)

    private(set) var bytes: [UInt8]

    init() throws {
        bytes = try ZipArchive([.init("a.js", Self.stored), .init("b.js", Self.deflated)]).bytes()
    }

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Fields that both records of an entry have, by their place in the one before the content; the list has them two bytes later.
    enum Shared: Int {
        case flags = 6
        case method = 8
        case checksum = 14
        case packedSize = 18
        case size = 22
    }

    /// Where the records of an entry begin: before its content, and in the list.
    func local(_ entry: Int) -> Int { places("PK\u{3}\u{4}")[entry] }
    func listed(_ entry: Int) -> Int { places("PK\u{1}\u{2}")[entry] }
    var end: Int { bytes.count - 22 }

    private func places(_ signature: String) -> [Int] {
        let wanted = Array(signature.utf8)
        return bytes.indices.filter { bytes[$0...].starts(with: wanted) }
    }

    mutating func set(_ value: Int, at place: Int, size: Int) {
        for byte in 0..<size { bytes[place + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte)) }
    }

    func number(at place: Int, size: Int) -> Int {
        (0..<size).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    /// In both records.
    mutating func set(_ field: Shared, of entry: Int, to value: Int) {
        let size = field == .flags || field == .method ? 2 : 4
        set(value, at: local(entry) + field.rawValue, size: size)
        set(value, at: listed(entry) + field.rawValue + 2, size: size)
    }

    func value(_ field: Shared, of entry: Int) -> Int { number(at: local(entry) + field.rawValue, size: 4) }

    /// Four bytes, in both records.
    mutating func rename(_ entry: Int, to name: [UInt8]) {
        bytes.replaceSubrange((local(entry) + 30)..<(local(entry) + 34), with: name)
        bytes.replaceSubrange((listed(entry) + 46)..<(listed(entry) + 50), with: name)
    }

    mutating func cut(at place: Int) {
        bytes.remove(at: place)
    }

    mutating func insert(_ more: [UInt8], at place: Int) {
        bytes.insert(contentsOf: more, at: place)
    }
}

extension ZipArchive.File {
    init(_ path: String, _ text: String) throws {
        self.init(try AssetPath(path), Array(text.utf8))
    }
}

extension ZipArchive.Bounds {
    static let tests = ZipArchive.Bounds(archive: 100_000, contents: 200_000, entries: 20)
}
