import PatchCompression
import PatchFormat

/// The compressed forms to make, and how thoroughly.
struct CompressionPlan: Sendable {
    /// The bytes of a file of the tree: its sources, concatenated.
    struct Item: Sendable {
        enum Source: Sendable {
            case bytes([UInt8])
            case object(SHA256Digest)
        }

        let file: TreePath.File
        let sources: [Source]
        /// The size of all sources, in bytes.
        let size: Int
    }

    /// One form of one file.
    struct Job: Sendable {
        let item: Item
        let format: CompressionFormat

        var form: TreePath.File { .compressed(item.file, format) }
    }

    /// Smaller files are not worth a form; a pack larger than an object may be is never read.
    static let sizes = 128...Limits.object

    /// The largest first, so that no core waits long for the last one.
    let jobs: [Job]
    let effort: Compressor.Effort

    /// - Parameters:
    ///   - wanted: with `fast`, zstd forms alone: all devices of this project accept them.
    ///   - exists: whether the tree has a form already.
    init<Failure>(
        _ items: [Item],
        _ wanted: FormEffort = .best,
        exists: (_ form: TreePath.File) throws(Failure) -> Bool
    ) throws(Failure) {
        var jobs: [Job] = []
        for item in items where Self.sizes.contains(item.size) {
            for format in wanted == .fast ? [.zstandard] : CompressionFormat.allCases {
                let job = Job(item: item, format: format)
                if try !exists(job.form) { jobs.append(job) }
            }
        }
        self.init(jobs: jobs, wanted)
    }

    /// Both forms of every file without a gzip form: a fast publish makes none, so its zstd form is a fast one.
    init<Failure>(
        improving items: [Item],
        exists: (_ form: TreePath.File) throws(Failure) -> Bool
    ) throws(Failure) {
        var jobs: [Job] = []
        for item in items where Self.sizes.contains(item.size) {
            guard try !exists(.compressed(item.file, .gzip)) else { continue }
            jobs += CompressionFormat.allCases.map { Job(item: item, format: $0) }
        }
        self.init(jobs: jobs, .best)
    }

    /// A part of a plan, with the effort of the whole.
    func part(_ jobs: [Job]) -> CompressionPlan { CompressionPlan(jobs: jobs, effort: effort) }

    private init(jobs: [Job], effort: Compressor.Effort) { (self.jobs, self.effort) = (jobs, effort) }

    private init(jobs: [Job], _ wanted: FormEffort) {
        self.jobs = jobs.sorted { ($1.item.size, $0.name) < ($0.item.size, $1.name) }
        let files = jobs.filter { if case .pack = $0.item.file { false } else { true } }
        // If little of a bundle is new, most of the work is its pack.
        let packs = jobs.reduce(0) { $0 + $1.item.size } - files.reduce(0) { $0 + $1.item.size }
        let bytes = max(files.reduce(0) { $0 + $1.item.size }, packs) / CompressionFormat.allCases.count
        effort = wanted == .fast ? .quick : Self.effort(for: bytes)
    }

    /// Limits a publisher's wait to two or three minutes of processor time, for a release of any size.
    ///
    /// Level 19 takes 0.7 s of one core a megabyte, once in the file and once in the pack; level 12 a tenth of that, level 3 a
    /// hundredth.
    ///
    /// - Parameter bytes: the size of the files, or of the packs if that is larger.
    static func effort(for bytes: Int) -> Compressor.Effort {
        switch bytes {
        case ...150_000_000: .most
        case ...1_500_000_000: .thorough
        default: .quick
        }
    }

    /// The plan for a release: each of its targets and objects, and the pack of every bundle.
    ///
    /// A file that does not shrink is tried again with each release. That costs little, as its first bytes are enough.
    init<Failure>(
        of release: ReleaseContents,
        _ wanted: FormEffort = .best,
        exists: (_ form: TreePath.File) throws(Failure) -> Bool
    ) throws(Failure) {
        try self.init(Self.items(of: release), wanted, exists: exists)
    }

    static func items(of release: ReleaseContents) -> [Item] {
        var items = release.targets.map { Item(file: $0, sources: [.bytes($1)], size: $1.count) }
        items += release.objects.map { Item(file: .object($0), sources: [.object($0)], size: $1) }
        for bundle in release.bundles {
            let size = bundle.objects.reduce(0) { $0 + $1.size }
            let sources = bundle.objects.map { Item.Source.object($0.sha256) }
            items.append(Item(file: .pack(bundle.manifest), sources: sources, size: size))
        }
        return items
    }
}

/// The parts of a release that compressed forms are made of.
struct ReleaseContents: Sendable {
    struct Bundle: Sendable {
        let manifest: SHA256Digest
        /// The objects in the manifest's order.
        let objects: [Fingerprint]
    }

    let targets: [(TreePath.File, [UInt8])]
    /// Each object with its size.
    let objects: [SHA256Digest: Int]
    let bundles: [Bundle]
}

extension CompressionPlan.Job {
    /// Makes the order of compression the same for each run.
    fileprivate var name: String {
        switch item.file {
        case .object(let digest), .pack(let digest), .target(_, let digest): digest.hex + format.suffix
        case .timestamp, .root, .role, .basePack, .packIndex, .express, .gateway, .compressed: format.suffix
        }
    }
}

/// Which derived files are made before devices see a release.
package enum FormEffort: Sendable {
    /// One fast zstd form of each file. An ``Optimization`` makes all others later.
    case fast
    /// Every form and pack.
    case best
}
