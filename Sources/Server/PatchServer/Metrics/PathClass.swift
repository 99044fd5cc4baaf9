/// The kind of file that a request asked for, from its target alone.
enum PathClass: String, CaseIterable, Sendable {
    case metadata, targets, objects, packs, gateways, other

    /// Reads the second segment of `/APP/objects/ab/…`, however the rest is spelled.
    ///
    /// It runs for every answer: the segment's first byte selects one candidate, and a single comparison checks it.
    init(target: String) {
        let path = target.utf8
        let slash = UInt8(ascii: "/")
        guard path.first == slash, let second = path.dropFirst().firstIndex(of: slash) else {
            self = .other
            return
        }
        let rest = path[path.index(after: second)...]
        guard let end = rest.firstIndex(of: slash) else {
            self = .other
            return
        }
        let segment = rest[..<end]
        self =
            switch segment.first {
            case UInt8(ascii: "m") where segment.elementsEqual("metadata".utf8): .metadata
            case UInt8(ascii: "t") where segment.elementsEqual("targets".utf8): .targets
            case UInt8(ascii: "o") where segment.elementsEqual("objects".utf8): .objects
            case UInt8(ascii: "g") where segment.elementsEqual("gateways".utf8): .gateways
            case UInt8(ascii: "p") where segment.elementsEqual("packs".utf8): .packs
            default: .other
            }
    }

    /// The index in a table of counters.
    var index: Int {
        switch self {
        case .metadata: 0
        case .targets: 1
        case .objects: 2
        case .packs: 3
        case .gateways: 4
        case .other: 5
        }
    }
}
