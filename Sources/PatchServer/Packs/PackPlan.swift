import PatchDelta
import PatchFormat
import ReleaseTree

/// The packs to make, and how thoroughly.
struct PackPlan: Sendable {
    struct Job: Sendable {
        let new: BundleVersion
        let base: BundleVersion
        /// How many versions of the bundle are more recent than the base.
        let rank: Int
        /// Contents of the new version that the base does not have, with their sizes.
        let missing: [SHA256Digest: Int]
        /// Of all rows of the new version, in bytes.
        let whole: Int

        var pack: BasePack { BasePack(manifest: new.digest, base: base.digest) }
        var bytes: Int { missing.values.reduce(0, +) }
    }

    /// The nearest bases first.
    let jobs: [Job]
    let effort: PackMaker.Effort

    static let none = PackPlan([])

    /// Above this, less effort is made; above the other, packs from the farthest bases are left out.
    static let thorough = 64_000_000
    static let most = 400_000_000

    /// Those that somebody asks for, whatever they weigh.
    init(wanted jobs: [Job]) {
        (self.jobs, effort) = (jobs, .most)
    }

    /// So that a publisher waits for a minute or two at most, whatever the release weighs.
    init(_ jobs: [Job]) {
        var (kept, bytes) = ([Job](), 0)
        for job in jobs.sorted(by: { ($0.rank, $1.bytes, $0.name) < ($1.rank, $0.bytes, $1.name) }) {
            guard bytes + job.bytes <= Self.most else { continue }
            bytes += job.bytes
            kept.append(job)
        }
        self.jobs = kept
        effort = bytes <= Self.thorough ? .most : .quick
    }
}

extension PackPlan.Job {
    /// So that the packs of a release are always made in the same order.
    fileprivate var name: String { new.digest.hex + base.digest.hex }
}
