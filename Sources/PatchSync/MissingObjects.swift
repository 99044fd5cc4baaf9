import PatchFormat
import PatchStore

extension Download {
    /// A patch that needs something, and what.
    struct Task {
        enum Content {
            /// Whether its text has to come.
            case script(isMissing: Bool)
            /// A manifest verified with every signature, and the places in it of the assets that have to come.
            case bundle(AssetManifest, missing: [Int32])
        }

        let wanted: SyncPlan.Wanted
        let content: Content

        /// How many objects have to come; some may be the same.
        fileprivate var count: Int {
            switch content {
            case .script(let isMissing): isMissing ? 1 : 0
            case .bundle(_, let missing): missing.count
            }
        }

        private func fingerprint(_ number: Int) -> Fingerprint {
            switch content {
            case .script: wanted.patch.fingerprint
            case .bundle(let manifest, let missing): manifest.assets[Int(missing[number])].fingerprint
            }
        }

        /// Of what has to come.
        var digests: some Sequence<SHA256Digest> { (0..<count).lazy.map { fingerprint($0).sha256 } }

        fileprivate func request(_ number: Int) -> ObjectRequest {
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
}

/// What has to come for some patches, each object once.
///
/// A request is made when its turn comes: there may be a hundred thousand.
struct MissingObjects: RandomAccessCollection {
    private struct Place {
        let task: Int32
        let number: Int32
    }

    private let tasks: [Download.Task]
    private var places: [Place] = []
    /// By position: the other patches that need the same object.
    private var others: [Int32: [Int32]] = [:]

    init(_ tasks: [Download.Task]) {
        self.tasks = tasks
        var seen: [SHA256Digest: Int32] = [:]
        for (task, digests) in tasks.enumerated().map({ (Int32($0), $1.digests) }) {
            for (number, digest) in digests.enumerated() {
                if let position = seen[digest] {
                    others[position, default: []].append(task)
                } else {
                    seen[digest] = Int32(places.count)
                    places.append(Place(task: task, number: Int32(number)))
                }
            }
        }
    }

    /// Whose object it is that stands there.
    func patches(at position: Int) -> [InstalledPatch] {
        ([places[position].task] + (others[Int32(position)] ?? [])).map { tasks[Int($0)].wanted.patch }
    }

    var startIndex: Int { 0 }

    var endIndex: Int { places.count }

    subscript(position: Int) -> ObjectRequest {
        tasks[Int(places[position].task)].request(Int(places[position].number))
    }
}
