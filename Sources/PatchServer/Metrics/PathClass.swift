/// What kind of thing a request asked for, from its target alone.
enum PathClass: String, CaseIterable, Sendable {
    case metadata, targets, objects, packs, other

    /// Reads the second segment of `/APP/objects/ab/…`, however the rest is spelled.
    init(target: String) {
        let path = target.utf8
        guard path.first == UInt8(ascii: "/"), let second = path.dropFirst().firstIndex(of: UInt8(ascii: "/")) else {
            self = .other
            return
        }
        let rest = path[path.index(after: second)...]
        self =
            Self.published.first { kind, name in
                rest.starts(with: name) && rest.dropFirst(name.count).first == UInt8(ascii: "/")
            }?.0 ?? .other
    }

    private static let published = [metadata, targets, objects, packs].map { ($0, Array($0.rawValue.utf8)) }

    /// Its place in a table.
    var index: Int {
        switch self {
        case .metadata: 0
        case .targets: 1
        case .objects: 2
        case .packs: 3
        case .other: 4
        }
    }
}
