import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// What a description's files came to.
struct DescribedContents: Sendable {
    var patches: [ReleaseDraft.Described] = []
    /// The bytes of each described bundle's manifest.
    var manifests: [Label: AssetManifest] = [:]
    /// Where each script and asset lies.
    var objects: [SHA256Digest: FilePath] = [:]
    /// What the exclusions left out, by patch: paths in the bundle's folder.
    var leftOut: [PatchID: [String]] = [:]
}

extension ReleaseDescription {
    /// Reads `release.yaml` in `folder`.
    package init(folder: FilePath, files: any FileOperations) throws(SigningError) {
        let path = folder.at(Self.fileName)
        let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: Limits.releaseDescription) }
        do throws(DescriptionError) {
            self = try ReleaseDescription(bytes, named: path.string)
        } catch { throw .description(error) }
    }
}

extension ReleaseBuilder {
    /// Looks at every file that the description names.
    func describe(_ description: ReleaseDescription, in folder: FilePath) async throws(SigningError)
        -> DescribedContents
    {
        var contents = DescribedContents()
        for patch in description.patches {
            switch patch.content {
            case .script(let file):
                let path = try files.find(file, below: folder, .file)
                let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: Limits.object) }
                guard String(validating: bytes, as: UTF8.self) != nil else { throw .bundle(.scriptNotUTF8(path)) }
                guard !PrivateKeyText.stands(in: bytes) else { throw .bundle(.privateKey(path)) }
                let fingerprint = Fingerprint(of: bytes)
                contents.objects[fingerprint.sha256] = path
                contents.patches.append(ReleaseDraft.Described(patch, fingerprint: fingerprint))
            case .bundle(let bundle):
                let path = try files.find(bundle.folder, below: folder, .directory)
                let progress = progress
                let exclusions = try bundle.exclusions.adding(fileIn: folder, of: files)
                let found = try await BundleContents(path, leavingOut: exclusions, files: files) {
                    progress(.reading(patch.patchID), $0)
                }
                if !found.leftOut.isEmpty { contents.leftOut[patch.patchID] = found.leftOut }
                let manifest = try manifest(of: found, patch, bundle)
                for (_, file, fingerprint) in found.files { contents.objects[fingerprint.sha256] = file }
                contents.manifests[patch.label] = manifest
                contents.patches.append(
                    ReleaseDraft.Described(
                        patch,
                        fingerprint: Fingerprint(of: manifest.json.fileBytes),
                        manifest: manifest
                    )
                )
            }
        }
        return contents
    }

    /// A label that the base lists was made when the base says so, or at no named time: only then can the same files give the
    /// same bytes.
    private func manifest(
        of found: BundleContents,
        _ patch: DescribedPatch,
        _ bundle: DescribedBundle
    ) throws(SigningError) -> AssetManifest {
        let known = base?.contents.manifests[patch.label]
        return try found.manifest(
            app: rootOfTrust.app,
            label: patch.label,
            bundle: bundle,
            created: known == nil ? created : known?.created
        )
    }
}
