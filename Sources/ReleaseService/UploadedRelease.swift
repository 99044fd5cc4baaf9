package import PatchFormat
import PatchServer
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// A part of a release that the server does not have yet.
package struct UploadNeed: Equatable, Sendable {
    /// For people: a target's path, or the entry that an object belongs to.
    package let name: String
    package let sha256: SHA256Digest
    /// In bytes.
    package let size: Int
    /// Whether it is a list, a manifest or a column: what is there may name more.
    let isTarget: Bool
}

/// A release on its way in: a folder of its own, out of everybody's sight.
///
/// ```
/// uploads/APP/<role identity>/release.json, role.json
/// uploads/APP/<role identity>/blobs/<sha256>          a part, whole and digested
/// uploads/APP/<role identity>/blobs/<sha256>.part     a part of which more is to come
/// ```
struct UploadedRelease: Sendable {
    /// All contents of one release together.
    static let totalLimit = 64_000_000_000

    let header: ReleaseHeader
    let role: Envelope
    let parsed: TargetsRole
    let folder: FilePath
    let draft: Draft?
    /// What is left to be sent, by digest.
    private(set) var wanted: [SHA256Digest: UploadNeed] = [:]

    var blobs: FilePath { folder.appending("blobs") }
    func blob(_ sha256: SHA256Digest) -> FilePath { blobs.appending(sha256.hex) }
    func part(_ sha256: SHA256Digest) -> FilePath { blobs.appending(sha256.hex + ".part") }

    init(
        _ header: ReleaseHeader,
        _ role: Envelope,
        _ parsed: TargetsRole,
        at folder: FilePath,
        in repository: AppRepository,
        files: any FileOperations
    ) throws(UploadError) {
        self.header = header
        self.role = role
        self.parsed = parsed
        self.folder = folder
        do throws(ServerError) {
            draft = try repository.draft(of: header.channel, version: header.roleVersion, identity: role.identity)
        } catch { throw .desk(.server(error)) }
        try lookAgain(in: repository, files: files)
    }

    /// A part has come; a list or a manifest names more.
    mutating func received(_ need: UploadNeed, in repository: AppRepository, files: any FileOperations)
        throws(UploadError)
    {
        wanted[need.sha256] = nil
        if need.isTarget { try lookAgain(in: repository, files: files) }
    }

    private mutating func lookAgain(in repository: AppRepository, files: any FileOperations) throws(UploadError) {
        var wanted: [SHA256Digest: UploadNeed] = [:]
        var total = 0
        var targets: [TargetPath: [UInt8]] = [:]
        for (name, file) in parsed.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256 else {
                throw .malformed(FormatError("role.json", field: "signed.targets.\(name)", rule: TargetPath.rule))
            }
            guard file.length <= Limits.manifest else {
                throw .tooLarge(bytes: file.length, limit: Limits.manifest)
            }
            if let bytes = try target(path, sha256, in: repository, files: files) {
                targets[path] = bytes
            } else {
                wanted[sha256] = UploadNeed(name: path.text, sha256: sha256, size: file.length, isTarget: true)
                total += file.length
            }
        }
        for need in try objects(named: targets) where wanted[need.sha256] == nil {
            guard try !has(need.sha256, in: repository, files: files) else { continue }
            wanted[need.sha256] = need
            total += need.size
            guard total <= Self.totalLimit else { throw .tooLarge(bytes: total, limit: Self.totalLimit) }
        }
        self.wanted = wanted
    }

    func target(
        _ path: TargetPath,
        _ sha256: SHA256Digest,
        in repository: AppRepository,
        files: any FileOperations
    ) throws(UploadError) -> [UInt8]? {
        do throws(FileError) {
            if try files.status(of: blob(sha256)) != nil { return try files.read(blob(sha256), limit: Limits.manifest) }
        } catch { throw .file(error) }
        do throws(ServerError) { return try repository.publishedTarget(path, sha256, in: draft) } catch {
            throw .desk(.server(error))
        }
    }

    private func has(
        _ sha256: SHA256Digest,
        in repository: AppRepository,
        files: any FileOperations
    ) throws(UploadError) -> Bool {
        do throws(FileError) { if try files.status(of: blob(sha256)) != nil { return true } } catch {
            throw .file(error)
        }
        if draft?.release.objects[sha256] != nil { return true }
        do throws(ServerError) { return try repository.hasObject(sha256) } catch {
            throw .desk(.server(error))
        }
    }

    /// Scripts and assets that the list and the manifests name, as far as these are here.
    func objects(named targets: [TargetPath: [UInt8]]) throws(UploadError) -> [UploadNeed] {
        guard let bytes = targets[.patchList(header.channel)] else { return [] }
        var needs: [UploadNeed] = []
        do throws(FormatError) {
            for entry in try ParsedPatchList(bytes).list.entries {
                let label = Label(patchID: entry.patchID, version: entry.version)
                switch entry.kind {
                case .script: needs.append(UploadNeed(name: "\(label)", entry.fingerprint))
                case .bundle:
                    let path = TargetPath.manifest(
                        channel: header.channel,
                        patchID: entry.patchID,
                        version: entry.version
                    )
                    guard let manifest = targets[path] else { continue }
                    for asset in try AssetManifest(manifest, named: path.text).assets {
                        needs.append(UploadNeed(name: "\(label) \(asset.path)", asset.fingerprint))
                    }
                }
            }
        } catch { throw .malformed(error) }
        return needs
    }

    /// The release as it is published: what came, and for the rest what the server has.
    func release(in repository: AppRepository, files: any FileOperations) throws(UploadError) -> SignedRelease {
        guard wanted.isEmpty else { throw .incomplete(missing: wanted.count) }
        var targets: [TargetPath: [UInt8]] = [:]
        for (name, file) in parsed.targets {
            guard let path = TargetPath(name.text), let sha256 = file.sha256,
                let bytes = try target(path, sha256, in: repository, files: files)
            else { throw .incomplete(missing: 1) }
            targets[path] = bytes
        }
        var objects = draft?.release.objects ?? [:]
        for need in try self.objects(named: targets) {
            let blob = blob(need.sha256)
            do throws(FileError) { if try files.status(of: blob) != nil { objects[need.sha256] = blob } } catch {
                throw .file(error)
            }
        }
        return SignedRelease(header: header, role: role, targets: targets, objects: objects)
    }
}

extension UploadNeed {
    fileprivate init(name: String, _ fingerprint: Fingerprint) {
        self.init(name: name, sha256: fingerprint.sha256, size: fingerprint.size, isTarget: false)
    }
}
