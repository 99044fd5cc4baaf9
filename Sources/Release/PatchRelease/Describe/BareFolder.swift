package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// A folder with a web app but without `release.yaml`: one bundle, whose serving is derived from its files.
///
/// ```
/// dist/ with index.html   ─▶   bundle web, version from package.json, git or the date
/// ```
package struct BareFolder: Sendable {
    package static let index = "index.html"
    /// The folders of a project into which tools write their build.
    package static let buildFolders = ["dist", "build", "out", "www", "_site"]
    /// The default id of the bundle.
    ///
    /// If the previous release lists exactly one bundle, its id is used instead.
    package static let bundle = "web"

    /// The folder with the bundle's files.
    package let folder: FilePath
    /// The parent folder, where `release.yaml` would be.
    ///
    /// Paths of the description are relative to it.
    package let parent: FilePath
    /// The name of ``folder`` in ``parent``.
    package let name: AssetPath

    /// Returns nil if the folder has a description, or no web app.
    ///
    /// - Throws: `noDescription` with the folder to use instead: a description in the parent folder covers this folder, or the
    ///   folder is a project and not its build.
    package init?(_ folder: FilePath, files: any FileOperations) throws(SigningError) {
        guard try !Self.has(ReleaseDescription.fileName, in: folder, files) else { return nil }
        guard try Self.has(Self.index, in: folder, files) else { return nil }
        if let built = try Self.build(of: folder, files) {
            throw .noDescription(
                folder.at(ReleaseDescription.fileName),
                meant: "\(folder) is a project; name its build folder: \(built)"
            )
        }
        guard let place = Self(at: folder) else { return nil }
        if let reading = try? DescriptionReading(folder: place.parent, files: files), reading.describes(place.name) {
            throw .noDescription(
                folder.at(ReleaseDescription.fileName),
                meant: "\(place.parent.at(ReleaseDescription.fileName)) describes it; name \(place.parent)"
            )
        }
        self = place
    }

    /// The web app for a new description of `folder`: the folder itself, or the build inside it.
    ///
    /// - Returns: nil for a folder without an index page.
    package init?(describing folder: FilePath, files: any FileOperations) throws(SigningError) {
        if let built = try Self.build(of: folder, files) {
            self.init(at: built)
            return
        }
        for name in Self.buildFolders where try Self.has(Self.index, in: folder.at(name), files) {
            self.init(at: folder.at(name))
            return
        }
        guard try Self.has(Self.index, in: folder, files) else { return nil }
        self.init(at: folder)
    }

    /// - Returns: nil for `/` and for a name that is not valid in a description.
    private init?(at folder: FilePath) {
        guard let last = folder.name, let name = try? AssetPath(last) else { return nil }
        (self.folder, parent, self.name) = (folder, folder.parent, name)
    }

    /// The build inside a project: a folder with a package.json, in which the index page is only a template.
    private static func build(of folder: FilePath, _ files: any FileOperations) throws(SigningError) -> FilePath? {
        guard try has("package.json", in: folder, files) else { return nil }
        for name in buildFolders where try has(index, in: folder.at(name), files) { return folder.at(name) }
        return nil
    }

    private static func has(
        _ name: String,
        in folder: FilePath,
        _ files: any FileOperations
    ) throws(SigningError) -> Bool {
        let path = folder.at(name)
        do throws(FileError) { return try files.status(of: path)?.kind == .file } catch .notDirectory {
            return false
        } catch { throw .file(error) }
    }

    /// Returns the description of one version.
    package func description(app: AppID, channel: ChannelName, label: Label) -> ReleaseDescription {
        guard let page = try? AssetPath(Self.index) else { preconditionFailure("index.html is a path") }
        let bundle = DescribedBundle(
            folder: name,
            index: page,
            routes: nil,
            cacheable: [],
            commit: nil,
            compatibility: [:],
            exclude: [],
            exclusions: .standard
        )
        let patch = DescribedPatch(
            patchID: label.patchID,
            version: label.version,
            content: .bundle(bundle),
            rules: .everyone,
            requires: [:],
            keep: DescribedPatch.keepByDefault
        )
        return ReleaseDescription(
            app: app,
            channel: channel,
            patches: [patch],
            hosts: [],
            jspatch: nil,
            places: DescriptionPositions(file: folder.string, lines: [:])
        )
    }

    /// Returns the bundle's id and its next version.
    ///
    /// Unchanged content keeps the version under which the previous release lists it: the same files are never published twice.
    ///
    /// - Parameter version: The version requested by the user, if any.
    package func next(
        for app: AppID,
        _ channel: ChannelName,
        version: VersionLabel? = nil,
        over base: BaseRelease?,
        at time: UTCTime,
        files: any FileOperations
    ) async throws(SigningError) -> (label: Label, source: NextVersion.Source?) {
        let id = base?.contents.onlyBundle ?? Self.standardBundle
        if let version { return (Label(patchID: id, version: version), nil) }
        if let newest = base?.contents.versions(of: id).first,
            try await holds(newest, of: app, channel, base?.contents, files)
        {
            return (newest.label, .published)
        }
        let next = NextVersion(
            of: ProjectVersions(of: folder, files: files),
            at: time,
            published: base?.contents.usedVersions(of: id) ?? []
        )
        return (Label(patchID: id, version: next.version), next.source)
    }

    /// Whether the folder's files equal those of a listed version.
    private func holds(
        _ entry: PatchEntry,
        of app: AppID,
        _ channel: ChannelName,
        _ base: ReleaseContents?,
        _ files: any FileOperations
    ) async throws(SigningError) -> Bool {
        guard entry.kind == .bundle else { return false }
        let description = description(app: app, channel: channel, label: entry.label)
        let look = DescribedFiles(
            folder: parent,
            app: app,
            places: description.places,
            base: base,
            created: nil,
            files: files
        )
        var contents = DescribedContents()
        try await look.add(description.patches[0], at: 0, to: &contents) { _ in { _ in } }
        return contents.patches.first?.fingerprint.sha256 == entry.fingerprint.sha256
    }

    private static var standardBundle: PatchID {
        guard let id = PatchID(bundle) else { preconditionFailure("a name of letters is a patch's") }
        return id
    }
}

extension DescriptionReading {
    fileprivate func describes(_ folder: AssetPath) -> Bool {
        patches.contains { row in
            if case .bundle(let bundle) = row.patch.content { bundle.folder == folder } else { false }
        }
    }
}

extension ReleaseContents {
    /// The bundle's id if the list contains this bundle only.
    fileprivate var onlyBundle: PatchID? {
        guard list.patchIDs.count == 1, list.entries.allSatisfy({ $0.kind == .bundle }) else { return nil }
        return list.patchIDs[0]
    }

    /// The versions of a patch that are listed or withdrawn.
    ///
    /// None of them may get other content.
    fileprivate func usedVersions(of id: PatchID) -> Set<String> {
        Set(
            list.entries.filter { $0.patchID == id }.map(\.version.text)
                + list.withdrawn.filter { $0.patchID == id }.map(\.version.text)
        )
    }
}
