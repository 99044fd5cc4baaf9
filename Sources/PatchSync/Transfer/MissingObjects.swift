import PatchChoice
import PatchFormat
import PatchStore

/// The objects that some patches lack, each once.
///
/// A request is made when its turn comes: there may be a hundred thousand.
struct MissingObjects: RandomAccessCollection {
    private struct Position {
        let task: Int32
        let number: Int32
    }

    private let tasks: [PatchDownload]
    /// By task; nil for a script.
    private let packs: [FullPack?]
    private var places: [Position] = []
    /// By position: the other patches that need the same object.
    private var others: [Int32: [Int32]] = [:]

    init(_ tasks: [PatchDownload]) {
        self.tasks = tasks
        packs = tasks.map(\.pack)
        var seen: [SHA256Digest: Int32] = [:]
        for (task, digests) in tasks.enumerated().map({ (Int32($0), $1.digests) }) {
            for (number, digest) in digests.enumerated() {
                if let position = seen[digest] {
                    others[position, default: []].append(task)
                } else {
                    seen[digest] = Int32(places.count)
                    places.append(Position(task: task, number: Int32(number)))
                }
            }
        }
    }

    /// The patches that need the object at a position.
    func patches(at position: Int) -> [InstalledPatch] {
        ([places[position].task] + (others[Int32(position)] ?? [])).map { tasks[Int($0)].wanted.patch }
    }

    /// The fingerprint of the object at a position.
    func fingerprint(at position: Int) -> Fingerprint {
        tasks[Int(places[position].task)].fingerprint(Int(places[position].number))
    }

    /// Whether the object at a position directly follows the one before it in a pack.
    func isNeighbour(_ position: Int) -> Bool {
        let (before, place) = (places[position - 1], places[position])
        guard before.task == place.task, case let task = tasks[Int(place.task)], let row = task.row(Int(place.number))
        else { return false }
        return task.row(Int(before.number)) == row - 1
    }

    /// One request for these neighbours.
    ///
    /// - Precondition: of a bundle, and each but the first is a neighbour (``isNeighbour(_:)``).
    func run(_ positions: Range<Int>) -> PackRun {
        let (first, last) = (places[positions.lowerBound], places[positions.upperBound - 1])
        let task = tasks[Int(first.task)]
        guard let pack = packs[Int(first.task)], let begin = task.row(Int(first.number)),
            let end = task.row(Int(last.number))
        else { preconditionFailure("a script is in no pack") }
        return PackRun(
            path: URLLayout.fullPack(of: task.wanted.patch.fingerprint.sha256),
            bytes: pack.bytes(of: begin..<end + 1),
            requests: positions.map { self[$0] }
        )
    }

    var startIndex: Int { 0 }

    var endIndex: Int { places.count }

    subscript(position: Int) -> ObjectRequest {
        tasks[Int(places[position].task)].request(Int(places[position].number))
    }
}
