package import PatchFormat
package import PatchStore
package import SystemPackage

/// The files below a folder, by their paths in a bundle.
///
/// The names of excluded files are recorded. Any other file that cannot be an asset is an error, and so is a release in the
/// folder. The error contains all problems of the folder.
package struct FolderScan: Equatable, Sendable {
    package struct Found: Equatable, Sendable {
        package let path: AssetPath
        package let file: FilePath
    }

    /// Sorted by path.
    package let files: [Found]
    /// The excluded paths relative to the folder, sorted; a folder's path ends with a slash.
    package let leftOut: [String]
    /// The paths of ``leftOut`` that no rule of the user matched.
    package let leftOutByDefault: [String]
    /// The written rules that matched a file or a folder.
    package let matched: Set<FileExclusions.Origin>

    package init(
        _ folder: FilePath,
        leavingOut exclusions: FileExclusions = .standard,
        links: BundleSelection.Links = .refuse,
        files disk: any FileOperations
    ) throws(SigningError) {
        var walk = FolderWalk(folder: folder, exclusions: exclusions, links: links, disk: disk)
        try walk.run()
        let sorted = walk.found.sorted { $0.path < $1.path }
        let problems = walk.problems + NameTwins.problems(among: sorted.map(\.path), in: folder)
        if let problem = BundleProblem(problems) { throw .bundle(problem) }
        guard !sorted.isEmpty else { throw .bundle(.empty(folder)) }
        files = sorted
        leftOut = walk.leftOut.sorted()
        leftOutByDefault = walk.leftOutByDefault.sorted()
        matched = walk.matched
    }
}

extension FileOperations {
    /// The file or folder at `path` below `root`, without following symbolic links.
    func find(_ path: AssetPath, below root: FilePath, _ kind: FileStatus.Kind) throws(SigningError) -> FilePath {
        var place = root
        let segments = path.segments
        for (index, segment) in segments.enumerated() {
            place.append(segment)
            let here = place
            guard let status = try onDisk({ () throws(FileError) in try status(of: here) }) else {
                throw .bundle(.missing(place))
            }
            let wanted = index == segments.count - 1 ? kind : .directory
            guard status.kind != wanted else { continue }
            switch status.kind {
            case .symbolicLink: throw .bundle(.symbolicLink(place))
            case .other: throw .bundle(.special(place))
            case .file, .directory: throw .bundle(wanted == .directory ? .notAFolder(place) : .notAFile(place))
            }
        }
        return place
    }
}
