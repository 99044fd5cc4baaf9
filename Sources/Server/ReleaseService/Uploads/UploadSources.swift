import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The possible sources of an upload's bytes: its own folder, a draft of the same content, the published tree.
///
/// ```
/// uploads/APP/<role identity>/release.json, role.json
/// uploads/APP/<role identity>/blobs/<sha256>          a part, complete and digested
/// uploads/APP/<role identity>/blobs/<sha256>.part     an incomplete part
/// ```
struct UploadSources: Sendable {
    let folder: FilePath
    let draft: Draft?
    let repository: AppRepository
    let files: any FileOperations

    init(_ offer: ReleaseOffer, at folder: FilePath, in repository: AppRepository, files: any FileOperations)
        throws(UploadError)
    {
        let (header, identity) = (offer.header, offer.identity)
        do throws(ServerError) {
            draft = try repository.draft(of: header.channel, version: header.roleVersion, identity: identity)
        } catch { throw .operations(.server(error)) }
        self.folder = folder
        self.repository = repository
        self.files = files
    }

    private var blobs: FilePath { folder.at("blobs") }
    func blob(_ sha256: SHA256Digest) -> FilePath { blobs.at(sha256.hex) }

    func part(_ need: UploadNeed) -> UploadPart {
        UploadPart(need: need, path: blobs.at(need.sha256.hex + ".part"), blob: blob(need.sha256), files: files)
    }

    /// Stores bytes that the server derived itself, in place of an uploaded part.
    @concurrent
    func keep(_ bytes: [UInt8], as need: UploadNeed) async throws(UploadError) {
        let part = part(need)
        do throws(FileError) {
            try files.removeIfPresent(part.path)
            try files.write(bytes, to: part.path)
        } catch { throw .file(error) }
        try await part.settle()
    }

    @concurrent
    func keep(_ made: FilePath, as need: UploadNeed) async throws(UploadError) {
        let part = part(need)
        do throws(FileError) {
            try files.removeIfPresent(part.path)
            try files.rename(made, to: part.path)
        } catch { throw .file(error) }
        try await part.settle()
    }

    func hasBlob(_ sha256: SHA256Digest) throws(UploadError) -> Bool {
        do throws(FileError) { return try files.status(of: blob(sha256)) != nil } catch { throw .file(error) }
    }

    func hasTarget(_ path: TargetPath, _ sha256: SHA256Digest) throws(UploadError) -> Bool {
        if try hasBlob(sha256) { return true }
        do throws(ServerError) { return try repository.hasTarget(path, sha256, in: draft) } catch {
            throw .operations(.server(error))
        }
    }

    /// The bytes of a target; nil if no source has them.
    func target(_ path: TargetPath, _ sha256: SHA256Digest) throws(UploadError) -> [UInt8]? {
        if try hasBlob(sha256) {
            do throws(FileError) { return try files.read(blob(sha256), limit: Limits.manifest) } catch {
                throw .file(error)
            }
        }
        do throws(ServerError) { return try repository.publishedTarget(path, sha256, in: draft) } catch {
            throw .operations(.server(error))
        }
    }

    func hasObject(_ sha256: SHA256Digest) throws(UploadError) -> Bool {
        if try hasBlob(sha256) || draft?.release.objects[sha256] != nil { return true }
        do throws(ServerError) { return try repository.hasObject(sha256) } catch {
            throw .operations(.server(error))
        }
    }

    /// Digests all stored parts again: after a power failure a part may have its name but not its bytes.
    @concurrent
    func digestAll() async throws(UploadError) {
        do throws(FileError) {
            for name in try files.list(blobs) {
                let path = blobs.at(name)
                let found = try await files.digest(of: path).hex
                if name == "\(found).part" {
                    // The process ended after the last byte, before renaming the part.
                    try files.rename(path, to: blobs.at(found))
                } else if name != found, !name.hasSuffix(".part") {
                    try files.remove(path)
                }
            }
        } catch { throw .file(error) }
    }
}

extension FileOperations {
    /// The digest of a possibly large file: yields to other tasks in between.
    @concurrent
    func digest(of path: FilePath) async throws(FileError) -> SHA256Digest {
        let reader = try open(path, limit: Limits.object)
        var digester = Digester()
        while let piece = try reader.next() {
            digester.update(piece)
            await Task.yield()
        }
        return digester.finish().sha256
    }
}
