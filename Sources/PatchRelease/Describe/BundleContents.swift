package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// A folder's files with their sizes and digests: what a manifest is made of.
package struct BundleContents: Sendable {
    package let folder: FilePath
    package let files: [(path: AssetPath, file: FilePath, fingerprint: Fingerprint)]
    /// See ``FolderScan/leftOut``.
    package let leftOut: [String]

    package init(
        _ folder: FilePath,
        leavingOut exclusions: FileExclusions = .standard,
        files disk: any FileOperations,
        progress: ProgressStart
    ) async throws(SigningError) {
        let scan = try FolderScan(folder, leavingOut: try exclusions.adding(fileIn: folder, of: disk), files: disk)
        let fingerprints = try await mapOnAllCores(scan.files, progress: progress) {
            (found) throws(SigningError) in
            let fingerprint = try disk.unchangedFingerprint(of: found.file)
            if fingerprint.size <= PrivateKeyText.limit {
                let bytes = try onDisk { () throws(FileError) in
                    try disk.read(found.file, limit: PrivateKeyText.limit)
                }
                guard !PrivateKeyText.stands(in: bytes) else { throw .bundle(.privateKey(found.file)) }
            }
            return fingerprint
        }
        self.folder = folder
        leftOut = scan.leftOut
        files = zip(scan.files, fingerprints).map { ($0.path, $0.file, $1) }
    }

    /// The manifest of one version; the caller names when it was made, if that is to be written.
    ///
    /// - Parameter serving: how its files are served.
    package func manifest(
        app: AppID,
        label: Label,
        bundle: DescribedBundle,
        serving: DescribedServing,
        created: UTCTime?
    ) throws(SigningError) -> AssetManifest {
        let patterns = bundle.cacheable.map { PathPattern($0) }
        let paths = Set(files.map(\.path))
        guard paths.contains(bundle.index) else {
            let pages = files.map(\.path).filter { $0.text.hasSuffix(".html") }
            throw .bundle(.noIndex(bundle.index, in: folder, pages: Array(pages.prefix(3))))
        }
        let assets = files.map { path, _, fingerprint in
            Asset(
                path: path,
                url: URLLayout.asset(path),
                type: AssetType(path: path),
                cacheable: patterns.contains { $0.matches(path.text) },
                sourceMap: serving.namedMaps.contains(path)
                    ? nil : (try? AssetPath(path.text + ".map")).flatMap { paths.contains($0) ? $0 : nil },
                coding: serving.codings[path],
                fingerprint: fingerprint
            )
        }
        let manifest = AssetManifest(
            app: app,
            patchID: label.patchID,
            version: label.version,
            commit: bundle.commit,
            created: created,
            compatibility: bundle.compatibility,
            index: bundle.index,
            routes: bundle.routes,
            routing: serving.routing,
            headers: bundle.headers,
            assets: assets
        )
        if let problem = manifest.problem() {
            throw .bundle(.manifest(label, field: problem.field, rule: problem.rule))
        }
        return manifest
    }
}

extension FileOperations {
    /// Size and digests of a file that nobody wrote to meanwhile.
    func unchangedFingerprint(of file: FilePath) throws(SigningError) -> Fingerprint {
        do throws(FileError) {
            let before = try identity(of: file)
            let fingerprint = try fingerprint(of: file, limit: Limits.object)
            if let before, before == (try identity(of: file)) { return fingerprint }
        } catch { throw .file(error) }
        throw .bundle(.changed(file))
    }
}

extension FileExclusions {
    /// These rules, and those of a folder's ``fileName``, where it has one.
    func adding(fileIn folder: FilePath, of disk: any FileOperations) throws(SigningError) -> FileExclusions {
        let file = folder.at(Self.fileName)
        let bytes: [UInt8]
        do throws(FileError) { bytes = try disk.read(file, limit: Limits.releaseDescription) } catch .notFound {
            return self
        } catch { throw .file(error) }
        do throws(PatternFault) { return try adding(text: String(decoding: bytes, as: UTF8.self)) } catch {
            throw .bundle(.exclusions(file, line: error.line, rule: error.rule))
        }
    }
}
