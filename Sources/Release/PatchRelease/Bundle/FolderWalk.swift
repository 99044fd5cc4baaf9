import PatchFormat
import PatchStore
import SystemPackage

/// Walks through a bundle's folder and collects files and problems.
struct FolderWalk {
    /// The maximum number of collected problems.
    private static let mostProblems = 1_000

    let folder: FilePath
    let exclusions: FileExclusions
    let links: BundleSelection.Links
    let disk: any FileOperations

    private(set) var found: [FolderScan.Found] = []
    private(set) var leftOut: [String] = []
    private(set) var leftOutByDefault: [String] = []
    private(set) var matched: Set<FileExclusions.Origin> = []
    private(set) var problems: [BundleProblem] = []
    private var open: [Place] = []
    private var entries = 0

    /// A folder that was not read yet.
    private struct Place {
        let folder: FilePath
        /// The path in the bundle with a trailing slash, in normal form C: a wrong name then counts once, not for each file below
        /// it.
        let prefix: String
        let isPartly: Bool
        /// The parent folders without links.
        ///
        /// A link to one of them is a cycle.
        let above: [FilePath]
    }

    init(folder: FilePath, exclusions: FileExclusions, links: BundleSelection.Links, disk: any FileOperations) {
        (self.folder, self.exclusions, self.links, self.disk) = (folder, exclusions, links, disk)
    }

    mutating func run() throws(SigningError) {
        open = [Place(folder: folder, prefix: "", isPartly: false, above: [folder.followingLinks])]
        while let next = open.popLast() {
            let names = try onDisk { () throws(FileError) in try disk.list(next.folder) }
            for name in names {
                try take(name, in: next)
                entries += 1
                guard found.count <= Limits.assetsInBundle, entries <= 10 * Limits.assetsInBundle else {
                    throw .bundle(.tooManyFiles(folder, limit: Limits.assetsInBundle))
                }
                guard problems.count < Self.mostProblems else { return }
            }
        }
    }

    private mutating func take(_ name: String, in place: Place) throws(SigningError) {
        let file = place.folder.at(name)
        // A name that is not UTF-8 was read with replacement characters, so no file with that name exists.
        guard let status = try onDisk({ () throws(FileError) in try disk.status(of: file) }) else {
            return try noteNotUTF8(name, in: place.folder)
        }
        var entry = Entry(file: file, kind: status.kind, above: place.above)
        if status.kind == .symbolicLink, links == .follow, let target = follow(file, place) { entry = target }
        let isFolder = entry.kind == .directory
        let verdict = exclusions.verdict(place.prefix + name, isFolder: isFolder, isInLeftOut: place.isPartly)
        matched.formUnion(verdict.matched)
        guard verdict.decision != .leftOut else {
            leftOut.append(place.prefix + name + (isFolder ? "/" : ""))
            if verdict.matched.isEmpty, !place.isPartly, name != FileExclusions.fileName {
                leftOutByDefault.append(leftOut[leftOut.count - 1])
            }
            return
        }
        if name == OwnFolder.releaseFile, OwnFolder.isRelease(place.folder, files: disk) {
            return problems.append(.releaseInside(place.folder))
        }
        let path: AssetPath?
        do throws(AssetPath.Problem) { path = try AssetPath(name) } catch {
            path = nil
            problems.append(.badName(file, error))
        }
        let full = place.prefix + name.normalFormC
        switch entry.kind {
        case .symbolicLink:
            if links == .refuse { problems.append(.symbolicLink(file)) }
        case .other: problems.append(.special(file))
        case .directory:
            if place.prefix.isEmpty, name == "__patchline" { return problems.append(.reserved(file)) }
            // Below an invalid name, other names may be invalid too.
            open.append(
                Place(folder: entry.file, prefix: full + "/", isPartly: verdict.decision == .partly, above: entry.above)
            )
        case .file:
            if place.prefix.isEmpty, name == "__patchline" { return problems.append(.reserved(file)) }
            guard path != nil else { return }
            do throws(AssetPath.Problem) {
                found.append(FolderScan.Found(path: try AssetPath(full), file: entry.file))
            } catch {
                // A folder above was reported already, unless the path as a whole is too long.
                if error == .tooLong { problems.append(.badName(file, error)) }
            }
        }
    }

    // MARK: Links

    /// A file or folder, after its symbolic link was resolved.
    private struct Entry {
        let file: FilePath
        let kind: FileStatus.Kind
        let above: [FilePath]

        init(file: FilePath, kind: FileStatus.Kind, above: [FilePath]) {
            (self.file, self.kind) = (file, kind)
            self.above = kind == .directory ? above + [(above.last ?? file).at(file.name ?? "")] : above
        }

        init(target: FilePath, kind: FileStatus.Kind, above: [FilePath]) {
            (file, self.kind) = (target, kind)
            self.above = kind == .directory ? above + [target] : above
        }
    }

    /// The target of a link; adds a problem and returns nil if the link may not be followed.
    private mutating func follow(_ link: FilePath, _ place: Place) -> Entry? {
        let (root, target) = (folder.followingLinks, link.followingLinks)
        func refuse(_ fault: BundleProblem.LinkFault) -> Entry? {
            problems.append(.link(link, fault))
            return nil
        }
        // A link that cannot be resolved is returned unchanged.
        guard target != (place.above.last ?? root).at(link.name ?? ""), let status = try? disk.status(of: target),
            status.kind != .symbolicLink
        else { return refuse(.nowhere) }
        guard target != root else { return refuse(.circle) }
        guard target.string.hasPrefix(root.string + "/") else { return refuse(.outside(target)) }
        let inside = String(target.string.dropFirst(root.string.count + 1))
        guard !isLeftOut(inside, isFolder: status.kind == .directory) else { return refuse(.leftOut(inside)) }
        guard !place.above.contains(target) else { return refuse(.circle) }
        return Entry(target: target, kind: status.kind, above: place.above)
    }

    /// Whether a rule excludes the link's target or one of its parent folders.
    private func isLeftOut(_ path: String, isFolder: Bool) -> Bool {
        let names = path.split(separator: "/")
        return (1...max(names.count, 1)).contains { depth in
            let part = names.prefix(depth).joined(separator: "/")
            return exclusions.verdict(part, isFolder: depth < names.count || isFolder).decision == .leftOut
        }
    }

    // MARK: Names

    private mutating func noteNotUTF8(_ name: String, in place: FilePath) throws(SigningError) {
        let names = try onDisk { () throws(FileError) in try disk.nameBytes(in: place) }
        // Two names of the folder may look the same; each is reported once.
        let meant = names.filter { bytes in
            String(validating: bytes, as: UTF8.self) == nil && String(decoding: bytes, as: UTF8.self) == name
        }
        let known = Set(problems.compactMap { if case .notUTF8(place, let bytes) = $0 { bytes } else { nil } })
        let new = meant.first { !known.contains($0) }
        if let new { problems.append(.notUTF8(in: place, name: new)) }
    }
}

/// Files of a bundle whose paths differ only by case.
enum NameTwins {
    static func problems(among paths: [AssetPath], in folder: FilePath) -> [BundleProblem] {
        var first: [ExactString: AssetPath] = [:]
        return paths.compactMap { path in
            if let other = first[path.caseFolded] { return .twins(other, path, in: folder) }
            first[path.caseFolded] = path
            return nil
        }
    }
}
