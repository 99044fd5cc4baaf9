import Gateways
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// Reads the files that a description names, patch by patch.
struct DescribedFiles: Sendable {
    let folder: FilePath
    let app: AppID
    let places: DescriptionPositions
    let base: ReleaseContents?
    let created: UTCTime?
    let files: any FileOperations

    /// - Parameter index: The index of the patch in the description, for error messages.
    func add(
        _ patch: DescribedPatch,
        at index: Int,
        to contents: inout DescribedContents,
        progress: ProgressStart
    ) async throws(SigningError) {
        let (field, place) = ("patches[\(index)]", Self.field(of: patch.content))
        do throws(SigningError) {
            switch patch.content {
            case .script(let file): try add(patch, script: file, at: "\(field).\(place)", to: &contents)
            case .bundle(let bundle):
                try await add(patch, bundle, at: field, to: &contents, progress: progress)
            }
        } catch .bundle(let problem) {
            let key =
                switch problem {
                case .noIndex: "index"
                case .gateway: "gateways"
                default: place
                }
            throw .described(places.error("\(field).\(key)", ": \(problem)"), problem)
        }
    }

    private static func field(of content: DescribedPatch.Content) -> String {
        switch content {
        case .script: "file"
        case .bundle: "folder"
        }
    }

    private func add(
        _ patch: DescribedPatch,
        script file: AssetPath,
        at field: String,
        to contents: inout DescribedContents
    ) throws(SigningError) {
        let path = try files.find(file, below: folder, .file)
        let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: Limits.object) }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .bundle(.scriptNotUTF8(path)) }
        var search = ContentSearch([])
        search.take(bytes)
        switch search.finish().secret {
        case .privateKey(let container): throw .bundle(.secret(path, .privateKey(container)))
        case .token(let service):
            contents.warnings.append(
                places.error(field, ": \(path) contains \(SecretKind.token(service).words); anyone could read it")
            )
        case .settings, nil: break
        }
        let fingerprint = Fingerprint(of: bytes)
        contents.objects[fingerprint.sha256] = path
        let isForPrograms = patch.place.side != .page
        contents.scripts.append(
            DescribedScript(field: field, path: path, textForPrograms: isForPrograms ? text : nil)
        )
        contents.patches.append(ReleaseDraft.Described(patch, fingerprint: fingerprint))
    }

    private func add(
        _ patch: DescribedPatch,
        _ bundle: DescribedBundle,
        at field: String,
        to contents: inout DescribedContents,
        progress: ProgressStart
    ) async throws(SigningError) {
        let path = try files.find(bundle.folder, below: folder, .directory)
        let exclusions = try bundle.exclusions.adding(fileIn: folder, of: files)
        let found = try await BundleContents(
            path,
            leavingOut: exclusions,
            selecting: bundle.selection,
            files: files,
            progress: progress
        )
        contents.note(found)
        if !found.leftOut.isEmpty { contents.leftOut[patch.patchID] = found.leftOut }
        let serving = try DescribedServing(of: found, bundle, known: base?.manifests[patch.label], files: files)
        let manifest = try manifest(of: found, patch, bundle, serving)
        if bundle.routes == nil, let recognition = serving.recognition {
            contents.recognitions[patch.patchID] = recognition
        }
        if bundle.gateways.contains(.meteor) {
            try checkForMeteor(manifest, found, patch)
            contents.warnings += meteorWarnings(of: found, bundle, at: field)
        }
        for (_, file, fingerprint) in found.files { contents.objects[fingerprint.sha256] = file }
        contents.manifests[patch.label] = manifest
        contents.patches.append(
            ReleaseDraft.Described(patch, fingerprint: Fingerprint(of: manifest.json.fileBytes), manifest: manifest)
        )
        contents.warnings += warnings(of: found, bundle, at: field)
        contents.warnings += serving.notes.map { places.error("\(field).\($0.key)", $0.rule(in: bundle.folder)) }
        if bundle.selection.confirmer == .page, found.confirmation.isMissing(fromAppOf: bundle.index) {
            let note = BundleNote.unconfirmed
            contents.noteUnconfirmed(places.error("\(field).\(note.key)", note.rule(in: bundle.folder)))
        }
        contents.warnings += ServingWarnings(manifest, bundle, before: base?.manifests ?? [:]).found.map {
            places.error("\(field).\($0.key)", $0.rule)
        }
    }

    /// Rejects bundles that Meteor's clients would reject or that their wire cannot carry.
    private func checkForMeteor(
        _ manifest: AssetManifest,
        _ found: BundleContents,
        _ patch: DescribedPatch
    ) throws(SigningError) {
        guard let index = found.files.first(where: { $0.path == manifest.index }) else { return }
        guard patch.requires.isEmpty else {
            throw .bundle(
                .gateway(.meteor, "it requires \(patch.requires.keys.sorted()[0]), which their format cannot express")
            )
        }
        let page: [UInt8]
        do throws(FileError) { page = try files.read(index.file, limit: Limits.meteorIndexPage) } catch {
            throw .file(error)
        }
        do throws(MeteorError) { _ = try MeteorSite(manifest, page: page) } catch .noCompatibility {
            throw .bundle(.gateway(.meteor, "compatibility names neither android nor ios"))
        } catch {
            throw .bundle(.gateway(.meteor, error.description))
        }
    }

    /// Warns of compatibility hashes that differ from those that Meteor built with these files.
    private func meteorWarnings(
        of found: BundleContents,
        _ bundle: DescribedBundle,
        at field: String
    ) -> [DescriptionError] {
        guard let program = found.files.first(where: { $0.path == MeteorAsset.kept }),
            let bytes = try? files.read(program.file, limit: Limits.meteorManifest),
            let json = try? JSON(parsing: bytes)
        else { return [] }
        return MeteorManifest.Platform.allCases.compactMap { platform in
            guard let described = bundle.compatibility[platform.rawValue],
                case .string(let built) = json["cordovaCompatibilityVersions"]?[platform.rawValue],
                built.text != described
            else { return nil }
            let rule =
                ": phones of \(platform.rawValue) install it if they have this hash; program.json has \(built.text)"
            return places.error("\(field).compatibility", rule)
        }
    }

    /// Warns of patterns that match nothing.
    private func warnings(of found: BundleContents, _ bundle: DescribedBundle, at field: String) -> [DescriptionError] {
        var warnings: [DescriptionError] = []
        for (index, text) in bundle.cacheable.enumerated() {
            let pattern = PathPattern(text)
            guard !found.files.contains(where: { pattern.matches($0.path.text) }) else { continue }
            let hint = text.hasPrefix("/") ? "; paths begin without a slash" : "; * stays within a folder"
            warnings.append(
                places.error("\(field).cacheable[\(index)]", "matches no file of \(bundle.folder): \(text)\(hint)")
            )
        }
        for (origin, text) in found.exclusions.written where !found.matched.contains(origin) {
            switch origin {
            case .exclude(let index):
                let rule =
                    "\(text.hasPrefix("!") ? "adds no file" : "leaves out no file") of \(bundle.folder): \(text)"
                warnings.append(places.error("\(field).exclude[\(index)]", rule))
            case .include(let index):
                warnings.append(
                    places.error("\(field).include[\(index)]", "matches no file of \(bundle.folder): \(text)")
                )
            case .standard, .line: break
            }
        }
        for (index, text) in bundle.selection.allowedSecrets.enumerated() where !found.usedAllowances.contains(index) {
            warnings.append(
                places.error(
                    "\(field).allow-secrets[\(index)]",
                    "matches no file with a secret in \(bundle.folder): \(text)"
                )
            )
        }
        return warnings + found.notes.map { places.error("\(field).\($0.key)", $0.rule(in: bundle.folder)) }
    }

    /// A label in the base keeps the base's creation time, or none.
    ///
    /// Otherwise the same files could not give the same bytes.
    private func manifest(
        of found: BundleContents,
        _ patch: DescribedPatch,
        _ bundle: DescribedBundle,
        _ serving: DescribedServing
    ) throws(SigningError) -> AssetManifest {
        let known = base?.manifests[patch.label]
        return try found.manifest(
            app: app,
            label: patch.label,
            bundle: bundle,
            serving: serving,
            created: known == nil ? created : known?.created
        )
    }
}
