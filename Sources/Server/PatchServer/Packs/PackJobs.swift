import PatchFormat
import PatchStore

/// Determines the packs to make.
final class PackJobs {
    private struct Contents {
        let sizes: [SHA256Digest: Int]
        let whole: Int
    }

    private let sources: VersionSources
    private let storage: any TreeStorage
    /// The contents by manifest; nil for an incomplete version.
    private var known: [SHA256Digest: Contents?] = [:]

    init(_ sources: VersionSources, _ storage: any TreeStorage) {
        (self.sources, self.storage) = (sources, storage)
    }

    func jobs(_ bases: PackBases, count: Int) -> [PackPlan.Job] {
        // A bundle that was published with its packs is not checked again.
        if bases.isListed, bases.candidates.contains(where: { isStored(bases.new, from: $0) }) { return [] }
        var (jobs, rank) = ([PackPlan.Job](), 0)
        for base in bases.candidates where rank < count {
            if isStored(bases.new, from: base) {
                rank += 1
                continue
            }
            guard let job = job(to: bases.new, from: base, rank: rank) else { continue }
            jobs.append(job)
            rank += 1
        }
        return jobs
    }

    /// The job, or nil if a file of either version is missing.
    func job(to new: BundleVersion, from base: BundleVersion, rank: Int) -> PackPlan.Job? {
        guard let old = contents(of: base, inTree: true), let made = contents(of: new, inTree: false) else {
            return nil
        }
        return PackPlan.Job(
            new: new,
            base: base,
            rank: rank,
            missing: made.sizes.filter { old.sizes[$0.key] == nil },
            whole: made.whole
        )
    }

    private func isStored(_ new: BundleVersion, from base: BundleVersion) -> Bool {
        let pack = BasePack(manifest: new.digest, base: base.digest)
        return (try? storage.status(of: .basePack(pack, .pack))) ?? nil != nil
    }

    /// The contents of a version, or nil if the manifest or one of its objects is missing.
    private func contents(of version: BundleVersion, inTree: Bool) -> Contents? {
        if let known = known[version.digest] { return known }
        let contents = read(version)
        let isWhole =
            !inTree
            || contents?.sizes.keys.allSatisfy { digest in
                (try? storage.status(of: .object(digest))) ?? nil != nil
            } ?? false
        known[version.digest] = .some(isWhole ? contents : nil)
        return isWhole ? contents : nil
    }

    private func read(_ version: BundleVersion) -> Contents? {
        guard let bytes = try? sources.document(version.manifest),
            let rows = try? FullPackContents(ofManifest: BytesInMemory(bytes), named: version.digest.hex)
        else { return nil }
        var sizes: [SHA256Digest: Int] = [:]
        for (row, object) in rows.objects.enumerated() { sizes[object] = rows.pack.bytes(of: row..<row + 1).count }
        return Contents(sizes: sizes, whole: rows.pack.offsets.last ?? 0)
    }
}
