package import PatchFormat
package import PatchStore
package import SystemPackage

/// The files below a folder, by their paths in a bundle.
///
/// What the exclusions leave out is named; all else that cannot be an asset is refused, and so is a release in the folder.
package struct FolderScan: Equatable, Sendable {
    package struct Found: Equatable, Sendable {
        package let path: AssetPath
        package let file: FilePath
    }

    /// Sorted by path.
    package let files: [Found]
    /// Paths from the folder on, sorted; a folder's ends with a slash.
    package let leftOut: [String]

    package init(
        _ folder: FilePath,
        leavingOut exclusions: FileExclusions = .standard,
        files disk: any FileOperations
    ) throws(SigningError) {
        var found: [Found] = []
        var leftOut: [String] = []
        var open: [(folder: FilePath, prefix: String)] = [(folder, "")]
        while let next = open.popLast() {
            let names = try onDisk { () throws(FileError) in try disk.list(next.folder) }
            for name in names {
                let file = next.folder.at(name)
                let status = try onDisk { () throws(FileError) in try disk.status(of: file) }
                // A name that is not UTF-8 was read with replacement characters, so nothing has it.
                guard let status else { throw .bundle(.notUTF8(in: next.folder)) }
                let isFolder = status.kind == .directory
                if exclusions.leaveOut(next.prefix + name, isFolder: isFolder) {
                    leftOut.append(next.prefix + name + (isFolder ? "/" : ""))
                    continue
                }
                if name == OwnFolder.releaseFile, OwnFolder.isRelease(next.folder, files: disk) {
                    throw .bundle(.releaseInside(next.folder))
                }
                let path: AssetPath
                do throws(AssetPath.Problem) {
                    path = try AssetPath(next.prefix + name)
                } catch { throw .bundle(.badName(file, error)) }
                guard path.segments.first != "__patchline" else { throw .bundle(.reserved(file)) }
                switch status.kind {
                case .file: found.append(Found(path: path, file: file))
                case .directory: open.append((file, "\(path)/"))
                case .symbolicLink: throw .bundle(.symbolicLink(file))
                case .other: throw .bundle(.special(file))
                }
                guard found.count <= Limits.assetsInBundle else {
                    throw .bundle(.tooManyFiles(folder, limit: Limits.assetsInBundle))
                }
            }
        }
        guard !found.isEmpty else { throw .bundle(.empty(folder)) }
        files = found.sorted { $0.path < $1.path }
        self.leftOut = leftOut.sorted()
    }
}

extension FileOperations {
    /// The file or folder at `path` below `root`, reached without following a symbolic link.
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
