import PatchChoice
import PatchFormat
import PatchStore

/// The objects that some patches lack, each listed once.
///
/// A request is created only when it is needed, because there may be a hundred thousand.
struct MissingObjects: RandomAccessCollection {
    private struct Position {
        let task: Int32
        let number: Int32
    }

    private let tasks: [PatchDownload]
    /// The weights of each task, or nil for a script.
    private let weights: [PackWeights?]
    private var places: [Position] = []
    /// The other patches that need the same object, by position.
    private var others: [Int32: [Int32]] = [:]

    init(_ tasks: [PatchDownload]) {
        self.tasks = tasks
        weights = tasks.map(\.weights)
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

    /// The objects that one patch lacks, except those that an earlier patch lacks too.
    struct Block {
        let task: Int
        let isBundle: Bool
        let positions: Range<Int>
    }

    /// The blocks, in the order of the patches.
    var blocks: [Block] {
        var blocks: [Block] = []
        var begin = 0
        while begin < places.count {
            let task = places[begin].task
            var end = begin + 1
            while end < places.count, places[end].task == task { end += 1 }
            blocks.append(Block(task: Int(task), isBundle: weights[Int(task)] != nil, positions: begin..<end))
            begin = end
        }
        return blocks
    }

    /// The manifests that name the packs of all bundles.
    var manifests: [Fingerprint] {
        weights.indices.filter { weights[$0] != nil }.map { tasks[$0].wanted.patch.fingerprint }
    }

    /// The manifest that names a bundle's pack.
    func manifest(of bundle: Int) -> SHA256Digest { tasks[bundle].wanted.patch.fingerprint.sha256 }

    /// The route of these objects of a bundle.
    ///
    /// - Parameters:
    ///   - facts: The facts of an earlier request for the pack.
    ///   - hasServer: Whether a server is left that may have the pack.
    func route(of bundle: Int, missing positions: [Int], knowing facts: PackFacts?, hasServer: Bool) -> FilesRoute {
        guard let weights = weights[bundle] else { return .objects }
        let rows = wanted(positions, of: bundle).map(\.row)
        return FilesRoute(missing: rows, of: weights, knowing: facts, hasServer: hasServer)
    }

    /// The parts of a bundle's plain pack that contain these objects, with their positions.
    func runs(of bundle: Int, for positions: [Int]) -> [PackRun] {
        guard let weights = weights[bundle] else { return [] }
        let wanted = wanted(positions, of: bundle)
        var rest = wanted[...]
        return weights.runs(of: wanted.map(\.row)).map { run in
            defer { rest = rest.dropFirst(run.rows.count) }
            return PackRun(positions: rest.prefix(run.rows.count).map(\.position), bytes: run.bytes)
        }
    }

    /// The pack of a bundle, for these of its objects.
    ///
    /// - Precondition: The objects belong to the bundle.
    func pack(of bundle: Int, for positions: [Int], range: Range<Int>?) -> WholePack {
        guard let layout = weights[bundle]?.plain else { preconditionFailure("a script is in no pack") }
        let wanted = wanted(positions, of: bundle)
        return WholePack(bundle: bundle, manifest: manifest(of: bundle), layout: layout, wanted: wanted, range: range)
    }

    /// The objects' rows in the bundle's manifest, in order.
    private func wanted(_ positions: [Int], of bundle: Int) -> [WholePack.Wanted] {
        let task = tasks[bundle]
        return positions.sorted().map { position in
            guard let row = task.row(Int(places[position].number)) else {
                preconditionFailure("a script is in no pack")
            }
            return WholePack.Wanted(row: row, position: position)
        }
    }

    var startIndex: Int { 0 }

    var endIndex: Int { places.count }

    subscript(position: Int) -> ObjectRequest {
        tasks[Int(places[position].task)].request(Int(places[position].number))
    }
}

/// A part of a bundle's plain pack, and the objects that it contains.
struct PackRun: Equatable {
    /// The positions in ``MissingObjects``.
    let positions: [Int]
    let bytes: Range<Int>
}

/// A patch with files to download.
struct PatchDownload {
    enum Content {
        /// A script, and whether its text must be downloaded.
        case script(isMissing: Bool)
        /// A manifest whose signatures were all verified, and the rows of the assets to download.
        case bundle(AssetManifest, missing: [Int32])
    }

    let wanted: SyncPlan.Wanted
    let content: Content

    /// The number of objects to download.
    ///
    /// Some may be equal.
    var count: Int {
        switch content {
        case .script(let isMissing): isMissing ? 1 : 0
        case .bundle(_, let missing): missing.count
        }
    }

    /// The weight of each asset in the bundle's pack, or nil for a script.
    var weights: PackWeights? {
        guard case .bundle(let manifest, _) = content else { return nil }
        return PackWeights(manifest.assets)
    }

    /// The object's row in the manifest, or nil for a script.
    func row(_ number: Int) -> Int? {
        guard case .bundle(_, let missing) = content else { return nil }
        return Int(missing[number])
    }

    func fingerprint(_ number: Int) -> Fingerprint {
        switch content {
        case .script: wanted.patch.fingerprint
        case .bundle(let manifest, let missing): manifest.assets[Int(missing[number])].fingerprint
        }
    }

    /// The digests of the objects to download.
    var digests: some Sequence<SHA256Digest> { (0..<count).lazy.map { fingerprint($0).sha256 } }

    func request(_ number: Int) -> ObjectRequest {
        let patch = wanted.patch
        switch content {
        case .script:
            return ObjectRequest(ExpectedFile(patch.fingerprint), path: patch.url, entry: patch.label.description)
        case .bundle(let manifest, let missing):
            let asset = manifest.assets[Int(missing[number])]
            let path = URLLayout.object(asset.fingerprint.sha256)
            return ObjectRequest(ExpectedFile(asset.fingerprint), path: path, entry: "\(patch.label) \(asset.path)")
        }
    }
}
