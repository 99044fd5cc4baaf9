import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// The files, manifests and warnings of a description.
struct DescribedContents: Sendable {
    var patches: [ReleaseDraft.Described] = []
    /// The bytes of each described bundle's manifest.
    var manifests: [Label: AssetManifest] = [:]
    /// The path of each script and asset.
    var objects: [SHA256Digest: FilePath] = [:]
    /// Valid but probably unintended parts of the description.
    var warnings: [DescriptionError] = []
    /// Scripts that are checked together.
    var scripts: [DescribedScript] = []
    /// The excluded files by patch, as paths in the bundle's folder.
    var leftOut: [PatchID: [String]] = [:]
    /// New bundles with recognised routing, by patch.
    var recognitions: [PatchID: BundleRecognition] = [:]
    /// A warning for each bundle that does not confirm its version by itself.
    private var unconfirmedBundles: [DescriptionError] = []
    /// The patterns of ignore files, and those that matched in any bundle.
    private var ignored: [(origin: FileExclusions.Origin, text: String)] = []
    private var matched: Set<FileExclusions.Origin> = []
}

extension DescribedContents {
    /// Records a bundle's ignore patterns and those that matched.
    ///
    /// A pattern of the described folder applies to all bundles.
    mutating func note(_ bundle: BundleContents) {
        let known = Set(ignored.map(\.origin))
        ignored += bundle.exclusions.written.filter { rule in
            if case .line = rule.origin { !known.contains(rule.origin) } else { false }
        }
        matched.formUnion(bundle.matched)
    }

    mutating func noteUnconfirmed(_ warning: DescriptionError) { unconfirmedBundles.append(warning) }

    /// The warnings that depend on all patches together.
    var warningsOfAll: [DescriptionError] { unmatched + unconfirmed }

    /// A script patch of pages may confirm for a bundle that does not.
    private var unconfirmed: [DescriptionError] {
        patches.contains { $0.patch.place.side != .host } ? [] : unconfirmedBundles
    }

    /// A warning for each pattern of an ignore file that matched nothing.
    private var unmatched: [DescriptionError] {
        ignored.compactMap { origin, text in
            guard case .line(let line, let file) = origin, !matched.contains(origin) else { return nil }
            return DescriptionError(file, line: line, rule: "matches no file: \(text)")
        }
    }
}

extension DescriptionReading {
    /// Reads `release.yaml` in `folder`.
    ///
    /// - Throws: `noDescription` if it does not exist, but a similar file does or `folder` is a file.
    package init(folder: FilePath, files: any FileOperations) throws(SigningError) {
        let path = folder.at(ReleaseDescription.fileName)
        do throws(FileError) {
            self.init(try files.read(path, limit: Limits.releaseDescription), named: path.string)
        } catch {
            guard let meant = Self.meant(by: folder, files) else { throw .file(error) }
            throw .noDescription(path, meant: meant)
        }
    }

    /// A suggestion if the folder has no description but something similar; nil if it has not.
    private static func meant(by folder: FilePath, _ files: any FileOperations) -> String? {
        if let status = try? files.status(of: folder), status.kind != .directory {
            return "name the folder, not the file"
        }
        let names = (try? files.list(folder)) ?? []
        guard !names.contains(ReleaseDescription.fileName) else { return nil }
        let other = names.first { ["release.yml", ReleaseDescription.fileName].contains($0.lowercased()) }
        return other.map { "there is \($0): call it \(ReleaseDescription.fileName)" }
    }
}

extension ReleaseDescription {
    /// Reads `release.yaml` in `folder`.
    package init(folder: FilePath, files: any FileOperations) throws(SigningError) {
        let reading = try DescriptionReading(folder: folder, files: files)
        guard let description = reading.description else { throw .descriptions(reading.mistakes) }
        self = description
    }
}

extension ReleaseBuilder {
    /// Reads every file that the description names.
    func describe(_ description: ReleaseDescription, in folder: FilePath) async throws(SigningError)
        -> DescribedContents
    {
        let look = DescribedFiles(
            folder: folder,
            app: rootOfTrust.app,
            places: description.places,
            base: base?.contents,
            created: created,
            files: files
        )
        var contents = DescribedContents()
        for (index, patch) in description.patches.enumerated() {
            let progress = progress
            try await look.add(patch, at: index, to: &contents) { progress(.reading(patch.patchID), $0) }
        }
        let scripts = ScriptInspection(
            parsing: scriptParsing,
            hosts: description.hosts,
            folder: folder,
            places: description.places,
            files: files
        )
        contents.warnings += contents.warningsOfAll
        contents.warnings += try scripts.warnings(about: contents.scripts)
        return contents
    }
}
