import PatchDelta
import PatchFormat
import PatchStore
import PatchTrust
import ReleaseFolder

/// The packs to make, and how thoroughly.
struct PackPlan: Sendable {
    struct Job: Sendable {
        let new: BundleVersion
        let base: BundleVersion
        /// How many versions of the bundle are more recent than the base.
        let rank: Int
        /// Contents of the new version that the base lacks, with their sizes.
        let missing: [SHA256Digest: Int]
        /// The total size of the new version's rows, in bytes.
        let whole: Int

        var pack: BasePack { BasePack(manifest: new.digest, base: base.digest) }
        var bytes: Int { missing.values.reduce(0, +) }
    }

    /// The nearest bases first.
    let jobs: [Job]
    let effort: PackMaker.Effort
    /// Whether to keep packs that save few bytes for the space they use.
    let keepsAll: Bool

    static let none = PackPlan([])

    /// Requested packs, of any size.
    ///
    /// - Parameter keepsAll: whether an operator requested them by name; else a device did.
    init(wanted jobs: [Job], keepsAll: Bool) {
        (self.jobs, effort, self.keepsAll) = (jobs, .most, keepsAll)
    }

    /// A part of a plan, with the effort of the whole.
    func part(_ jobs: [Job]) -> PackPlan { PackPlan(part: jobs, of: self) }

    private init(part jobs: [Job], of plan: PackPlan) {
        (self.jobs, effort, keepsAll) = (jobs, plan.effort, plan.keepsAll)
    }

    /// The packs that a publisher waits for, limited for a release of any size.
    init(_ jobs: [Job]) {
        let sorted = jobs.sorted { ($0.rank, $1.bytes, $0.name) < ($1.rank, $0.bytes, $1.name) }
        let budget = PackBudget(sorted.map(\.bytes))
        self.jobs = budget.kept.map { sorted[$0] }
        (effort, keepsAll) = (budget.effort, false)
    }
}

extension PackPlan {
    /// How many releases are searched for earlier versions of a bundle.
    private static let releasesLooked = 10

    /// The packs that a release lacks: to each of its bundles from the versions that its channel listed before.
    ///
    /// An unreadable earlier release counts as one without versions: devices do without packs.
    init(for verified: VerifiedRelease, in repository: AppRepository) {
        let channel = verified.release.header.channel
        let list = BundleVersion.all(of: verified.list.entries, in: verified.role, channel)
        let sources = VersionSources(repository.tree, verified.release)
        self.init(to: list, of: channel, at: verified.role.header.version, sources, in: repository)
    }

    /// The missing packs of the listed bundles.
    init(
        to list: [BundleVersion],
        of channel: ChannelName,
        at version: Int,
        _ sources: VersionSources,
        in repository: AppRepository
    ) {
        guard repository.packBases > 0, !list.isEmpty else {
            self = .none
            return
        }
        let before = BundleVersion.listed(of: channel, before: version, limit: Self.releasesLooked, in: repository)
        let reading = PackJobs(sources, repository.storage)
        self.init(
            list.flatMap { reading.jobs(PackBases(of: $0, in: list, after: before), count: repository.packBases) }
        )
    }
}

extension PackPlan.Job {
    /// Makes the order of a release's packs the same for each run.
    fileprivate var name: String { new.digest.hex + base.digest.hex }
}

/// The bases of the packs to a version of a bundle: the versions that its channel listed last.
struct PackBases: Sendable {
    let new: BundleVersion
    /// Whether the previous list has it already.
    let isListed: Bool
    /// The most recent first.
    let candidates: [BundleVersion]

    /// - Parameters:
    ///   - list: every bundle of the new list, in its order.
    ///   - before: the bundles of previous lists, the newest list first.
    init(of new: BundleVersion, in list: [BundleVersion], after before: [[BundleVersion]]) {
        self.new = new
        isListed = before.first?.contains { $0.digest == new.digest } ?? false
        // No device updates from a version to one further down in the same list.
        let above = list.prefix { $0.digest != new.digest }.map(\.digest)
        var known = Set(above).union([new.digest])
        candidates = before.joined().filter {
            $0.label.patchID == new.label.patchID && known.insert($0.digest).inserted
        }
    }
}
