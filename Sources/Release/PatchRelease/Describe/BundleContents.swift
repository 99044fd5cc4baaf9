package import PatchFormat
package import PatchStore
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// A folder's files with their sizes and digests, from which a manifest is made.
package struct BundleContents: Sendable {
    package let folder: FilePath
    package let files: [(path: AssetPath, file: FilePath, fingerprint: Fingerprint)]
    /// The paths of ``FolderScan/leftOut``, and compressed files that do not match their plain files.
    package let leftOut: [String]
    let notes: [BundleNote]
    let linkedManifests: LinkedManifests
    let confirmation: PageConfirmation
    /// The written rules that matched a file or a folder.
    let matched: Set<FileExclusions.Origin>
    let exclusions: FileExclusions
    /// The indexes of the `allow-secrets` patterns that matched a file with a secret.
    let usedAllowances: Set<Int>

    package init(
        _ folder: FilePath,
        leavingOut exclusions: FileExclusions = .standard,
        selecting selection: BundleSelection = BundleSelection(),
        files disk: any FileOperations,
        progress: ProgressStart
    ) async throws(SigningError) {
        let exclusions = try exclusions.adding(fileIn: folder, of: disk)
        let scan = try FolderScan(folder, leavingOut: exclusions, links: selection.links, files: disk)
        let looks = try await mapOnAllCores(scan.files, progress: progress) { (found) throws(SigningError) in
            try FileInspection(found.file, path: found.path, of: disk)
        }
        let all = zip(scan.files, looks).map { (path: $0.path, file: $0.file, look: $1) }
        let archives = try BundleArchives(all, selection, disk)
        var used = archives.usedAllowances
        var secrets = archives.secrets
        // A secret in an uncompressed archive is also found in the file itself.
        let named = Set(archives.found)
        for (path, file, look) in all where !named.contains(path) {
            guard look.findings.secret != nil || look.findings.hasBrowserKey else { continue }
            if let rule = selection.secretRule(for: path.text) {
                used.insert(rule)
            } else if let secret = look.findings.secret {
                secrets.append(.secret(file, secret))
            }
        }
        if let problem = BundleProblem(secrets) { throw .bundle(problem) }
        let twins = try await CompressedTwins(all.map { ($0.path, $0.file, $0.look.fingerprint) }, disk)
        let kept = all.filter { !twins.leftOut.contains($0.path) }
        self.folder = folder
        self.exclusions = exclusions
        matched = scan.matched
        usedAllowances = used
        leftOut = (scan.leftOut + twins.leftOut.map(\.text)).sorted()
        files = kept.map { ($0.path, $0.file, $0.look.fingerprint) }
        var notes = scan.leftOutByDefault.isEmpty ? [] : [BundleNote.leftOut(scan.leftOutByDefault)]
        notes += twins.notes
        if !archives.gaps.isEmpty { notes.append(.unsearched(archives.gaps)) }
        let sources = kept.filter(\.look.findings.hasSources).map(\.path)
        if selection.sourceMaps == nil, !sources.isEmpty { notes.append(.sources(sources)) }
        let keys = kept.filter { $0.look.findings.hasBrowserKey && !selection.allowsSecrets(in: $0.path.text) }
        if !keys.isEmpty { notes.append(.browserKeys(keys.map(\.path))) }
        let odd = kept.map(\.path).filter(WindowsNames.refuses)
        if !odd.isEmpty { notes.append(.notForWindows(odd)) }
        let asking = kept.filter { !$0.look.findings.hostNames.isEmpty }
        if let note = try HostNameLines.note(asking.map { ($0.path, $0.file, $0.look.findings.hostNames) }, disk) {
            notes.append(note)
        }
        self.notes = notes
        let pages = kept.filter { !$0.look.findings.links.manifests.isEmpty }.map { ($0.path, $0.look.findings.links) }
        let objects =
            pages.isEmpty ? [:] : Dictionary(uniqueKeysWithValues: kept.map { ($0.path, $0.look.findings.isObject) })
        linkedManifests = LinkedManifests(of: pages) { objects[$0] }
        confirmation = PageConfirmation(in: kept.map { ($0.path, $0.look.findings) })
    }

    /// Returns the manifest of one version.
    ///
    /// `created` is nil if the manifest must not contain a creation time.
    ///
    /// - Parameter serving: The serving rules of the files.
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
            let below = pages.filter { $0.text.hasSuffix("/\(bundle.index)") }.sorted {
                ($0.segments.count, $0) < ($1.segments.count, $1)
            }
            let others = pages.filter { !below.contains($0) }
            throw .bundle(.noIndex(bundle.index, in: folder, pages: Array((below + others).prefix(3))))
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
            headers: bundle.headers + serving.manifestTypes,
            assets: assets
        )
        if let problem = manifest.problem() {
            throw .bundle(.manifest(label, field: problem.field, rule: problem.rule))
        }
        return manifest
    }
}

extension FileExclusions {
    /// These rules, followed by those of the folder's ``fileName``, if it exists.
    func adding(fileIn folder: FilePath, of disk: any FileOperations) throws(SigningError) -> FileExclusions {
        let file = folder.at(Self.fileName)
        let bytes: [UInt8]
        do throws(FileError) { bytes = try disk.read(file, limit: Limits.releaseDescription) } catch .notFound {
            return self
        } catch { throw .file(error) }
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw .bundle(.ignoreFile(file, error))
        }
        do throws(PatternFault) { return try adding(text: text, of: file.string) } catch {
            throw .bundle(.exclusions(file, line: error.line, rule: error.rule))
        }
    }
}
