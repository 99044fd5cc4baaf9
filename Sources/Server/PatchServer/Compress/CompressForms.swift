import Linux
import PatchCompression
import PatchCrypto
import PatchFormat
import PatchStore
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// Makes the compressed forms that a release's files lack, and its packs from earlier versions, on all cores.
///
/// It needs no lock and leaves the tree unchanged, so no other change waits for it. The forms are published with the release.
/// Without a quorum, or without space on the disk, nothing is made. The caller discards the forms in the end.
package struct CompressForms: Sendable {
    private let verified: VerifiedRelease
    private let repository: AppRepository
    private let effort: FormEffort

    /// - Parameter effort: with `fast`, no packs are made, and the channel is recorded as one to optimize.
    package init(of verified: VerifiedRelease, in repository: AppRepository, _ effort: FormEffort = .best) {
        (self.verified, self.repository, self.effort) = (verified, repository, effort)
    }

    package func run() async throws(ServerError) -> CompressedForms {
        guard verified.quorum.isComplete else { return .none }
        let plan = try await CompressionThreads.forms.run { () throws(ServerError) in try decide() }
        let nothing = CompressedForms(made: [], folder: nil, awaitsOthers: effort == .fast)
        guard !plan.forms.jobs.isEmpty || !plan.packs.jobs.isEmpty else { return nothing }
        let scratch = repository.folder.scratch()
        do throws(ServerError) {
            return try await make(plan, in: scratch)
        } catch {
            try? repository.files.removeTree(scratch)
            if case .file(.noSpace) = error { return nothing }
            throw error
        }
    }

    private struct Plan: Sendable {
        let forms: CompressionPlan
        let packs: PackPlan
    }

    private func decide() throws(ServerError) -> Plan {
        let forms = try CompressionPlan(of: ReleaseContents(verified), effort) { (form) throws(ServerError) in
            try repository.storage.status(of: form) != nil
        }
        return Plan(forms: forms, packs: effort == .best ? PackPlan(for: verified, in: repository) : .none)
    }

    private func make(_ plan: Plan, in scratch: FilePath) async throws(ServerError) -> CompressedForms {
        let files = repository.files
        let sources = VersionSources(repository.tree, verified.release)
        do throws(FileError) { try files.makeDirectory(scratch) } catch { throw .file(error) }
        var made: [CompressedForms.Form] = []
        if !plan.forms.jobs.isEmpty {
            let work = CompressionWork(plan.forms, in: scratch, files) { (digest) throws(ServerError) in
                try sources.object(digest)
            }
            made = try await work.run(repository.progress(.compressing, plan.forms.jobs.count))
        }
        let packs = PackWork(plan.packs, of: sources, in: scratch.at("packs"), of: repository, beside: made)
        let (packed, leftOut) = await packs.run()
        return CompressedForms(
            made: made + packed.flatMap(\.files),
            leftOut: leftOut,
            folder: scratch,
            awaitsOthers: effort == .fast
        )
    }
}

extension ServerFolder {
    /// A separate folder for files that are about to be published.
    func scratch() -> FilePath { root.at("\(Self.compressing)\(UInt64.random(in: .min ... .max))") }

    /// Removes the files of publishers that were killed while they compressed.
    ///
    /// - Returns: the size of each file.
    func removeForgottenForms(olderThan time: UTCTime, files: any FileOperations) throws(ServerError) -> [Int] {
        do throws(FileError) {
            var sizes: [Int] = []
            for name in try files.list(root) where name.hasPrefix(ServerFolder.compressing) {
                let path = root.at(name)
                guard let identity = try files.identity(of: path), UTCTime(nanoseconds: identity.modified) < time else {
                    continue
                }
                for file in try files.list(path) { sizes.append(try files.identity(of: path.at(file))?.size ?? 0) }
                try files.removeTree(path)
            }
            return sizes
        } catch { throw .file(error) }
    }
}

extension ReleaseContents {
    fileprivate init(_ verified: VerifiedRelease) {
        let release = verified.release
        var sizes: [SHA256Digest: Int] = [:]
        var bundles: [Bundle] = []
        let whole = UsableForms.whole(in: verified.list.entries)
        for entry in verified.list.entries {
            switch entry.kind {
            case .script: sizes[entry.fingerprint.sha256] = entry.fingerprint.size
            case .bundle:
                let label = Label(patchID: entry.patchID, version: entry.version)
                guard let manifest = verified.manifests[label]?.manifest else { continue }
                let objects = manifest.assets.map(\.fingerprint)
                for object in objects { sizes[object.sha256] = object.size }
                guard whole.contains(entry.fingerprint.sha256) else { continue }
                bundles.append(Bundle(manifest: entry.fingerprint.sha256, objects: objects))
            }
        }
        self.init(
            targets: release.targets.map { (.target($0.key, SHA256Digest(of: $0.value)), $0.value) },
            objects: sizes,
            bundles: bundles
        )
    }
}
