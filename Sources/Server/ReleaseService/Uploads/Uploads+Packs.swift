package import NIOCore
import PatchDelta
package import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

extension Uploads {
    /// How many bases a sender receives for each manifest.
    static let basesPerManifest = 16

    /// The versions in the tree that can be bases of packs to a missing manifest.
    static func bases(of upload: UploadedRelease) throws(UploadError) -> [SHA256Digest: [SHA256Digest]] {
        var bases: [SHA256Digest: [SHA256Digest]] = [:]
        for (sha256, id) in upload.wantedManifests {
            do throws(ServerError) {
                bases[sha256] = try upload.sources.repository.bases(of: id, limit: basesPerManifest)
            } catch { throw .operations(.server(error)) }
        }
        return bases.filter { !$0.value.isEmpty }
    }

    /// Receives a pack that produces a manifest of the release, with its new contents, from a version in the tree.
    ///
    /// The pack is followed by the signatures that the base's column lacks. The output is stored as if it had been received part by
    /// part; after an error, nothing is.
    ///
    /// - Parameter length: the size of the pack, in bytes.
    package func receive<Body: AsyncSequence & Sendable>(
        _ pack: BasePack,
        _ length: Int,
        _ body: Body,
        _ id: String,
        of app: AppID
    ) async throws(UploadError) -> State where Body.Element == ByteBuffer {
        let upload = try await upload(id, of: app)
        guard let manifest = upload.wanted[pack.manifest], upload.wantedManifests[pack.manifest] != nil else {
            throw .notWanted(pack.manifest)
        }
        let column = upload.columnWanted(beside: pack.manifest)
        let made = [pack.manifest] + (column.map { [$0.sha256] } ?? [])
        for sha256 in made where receiving.contains(id + sha256.hex) { throw .inUse(sha256) }
        receiving.formUnion(made.map { id + $0.hex })
        defer { receiving.subtract(made.map { id + $0.hex }) }
        let folder = upload.sources.folder.at("pack-\(pack.manifest.hex)")
        let work = try await onThread(of: app) { () throws(UploadError) in
            let base = try upload.sources.base(pack.base)
            do throws(FileError) {
                try upload.sources.files.removeTree(folder)
                try upload.sources.files.makeDirectory(folder)
            } catch { throw .file(error) }
            return UploadPack(
                pack: pack,
                length: length,
                base: base,
                repository: upload.sources.repository,
                manifest: manifest,
                column: column,
                folder: folder,
                files: upload.sources.files
            )
        }
        do throws(UploadError) {
            let found = try await work.take(body) { digest in try upload.sources.hasObject(digest) }
            try await keep(found, of: work, in: upload)
        } catch {
            await work.discard()
            throw open[id] == nil ? .unknown(id: id) : error
        }
        await work.discard()
        return try await state(id, of: app)
    }

    private func keep(_ made: UploadPack.Made, of work: UploadPack, in upload: UploadedRelease)
        async throws(UploadError)
    {
        let id = upload.identity.hex
        try await upload.sources.keep(made.manifest, as: work.manifest)
        arrived(work.manifest.sha256, in: id)
        if let bytes = made.column, let column = work.column {
            try await upload.sources.keep(bytes, as: column)
            arrived(column.sha256, in: id)
        }
        try await readOn(id)
        for (sha256, path) in made.contents {
            guard let need = wanted(sha256, in: id) else { continue }
            // Another sender may be sending it as a part.
            guard receiving.insert(id + sha256.hex).inserted else { continue }
            defer { receiving.remove(id + sha256.hex) }
            try await upload.sources.keep(path, as: need)
            arrived(sha256, in: id)
        }
    }
}

extension UploadSources {
    fileprivate func base(_ digest: SHA256Digest) throws(UploadError) -> PackBase {
        do throws(ServerError) {
            if let base = try repository.base(digest) { return base }
        } catch { throw .operations(.server(error)) }
        throw .noBase(digest)
    }
}
