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

    /// What one patch lacks, without what another lacks that came before it.
    struct Block {
        let task: Int
        let isBundle: Bool
        let positions: Range<Int>
    }

    /// In the order of the patches.
    var blocks: [Block] {
        var blocks: [Block] = []
        var begin = 0
        while begin < places.count {
            let task = places[begin].task
            var end = begin + 1
            while end < places.count, places[end].task == task { end += 1 }
            blocks.append(Block(task: Int(task), isBundle: packs[Int(task)] != nil, positions: begin..<end))
            begin = end
        }
        return blocks
    }

    /// How these objects of a bundle come.
    func choice(of bundle: Int, missing positions: [Int]) -> TransferChoice {
        let bytes = positions.reduce(0) { $0 + fingerprint(at: $1).size }
        return TransferChoice(missing: positions.count, bytes: bytes, of: packs[bundle]?.offsets.last ?? 0)
    }

    /// The pack of a bundle, for these of its objects.
    ///
    /// - Precondition: they are the bundle's.
    func pack(of bundle: Int, for positions: [Int]) -> WholePack {
        let task = tasks[bundle]
        guard let layout = packs[bundle] else { preconditionFailure("a script is in no pack") }
        let wanted = positions.sorted().map { position in
            guard let row = task.row(Int(places[position].number)) else {
                preconditionFailure("a script is in no pack")
            }
            return WholePack.Wanted(row: row, position: position)
        }
        let path = URLLayout.fullPack(of: task.wanted.patch.fingerprint.sha256)
        return WholePack(bundle: bundle, path: path, layout: layout, wanted: wanted)
    }

    var startIndex: Int { 0 }

    var endIndex: Int { places.count }

    subscript(position: Int) -> ObjectRequest {
        tasks[Int(places[position].task)].request(Int(places[position].number))
    }
}
