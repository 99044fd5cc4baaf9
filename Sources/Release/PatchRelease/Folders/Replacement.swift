import PatchFormat
import PatchStore
import ReleaseFolder
package import SystemPackage

/// Whether a new folder may replace an existing one.
package enum Replacement: Sendable {
    case nothing
    /// A folder that this program made earlier. It must not be, contain or be inside a kept folder.
    ///
    /// - place: The path of the new folder without symbolic links.
    case ownFolder(at: FilePath, besides: [KeptFolder])
}

/// The folders that `patchsign` makes and may replace.
enum OwnFolder {
    case release
    /// Several releases in one folder, as `patchsign pull` writes them.
    case pulled

    static let releaseFile = "release.json"
    private static let releaseParts: Set<String> = [releaseFile, "role.json", "objects", "targets"]
    private static let pulledParts: Set<String> = [PulledFolder.base, PulledFolder.release, PulledFolder.source]

    /// Returns nil if the folder is of this kind and contains nothing else.
    func refusal(of path: FilePath, files: any FileOperations) throws(FileError) -> ReplacementRefusal? {
        guard try files.status(of: path)?.kind == .directory else { return .noFolder }
        let names = try files.list(path)
        switch self {
        case .release:
            guard Self.isRelease(path, files: files) else { return .unmarked(wanted: "release.json of a release") }
            return names.first { !Self.releaseParts.contains($0) }.map { .foreign($0) }
        case .pulled:
            if let name = names.first(where: { !Self.pulledParts.contains($0) }) { return .foreign(name) }
            guard !names.isEmpty else { return .unmarked(wanted: "release in it") }
            for name in names {
                if let refusal = try OwnFolder.release.refusal(of: path.at(name), files: files) { return refusal }
            }
            return nil
        }
    }

    static func isRelease(_ path: FilePath, files: any FileOperations) -> Bool {
        guard let bytes = try? files.read(path.at(releaseFile), limit: Limits.releaseHeader) else { return false }
        return (try? ReleaseHeader(bytes, named: releaseFile)) != nil
    }
}

extension Replacement {
    /// The kept folder that prevents deleting `place`.
    static func keeper(of place: FilePath, among kept: [KeptFolder]) -> KeptFolder? {
        kept.first { folder in
            folder.path.starts(with: place) || folder.keepsContents && place.starts(with: folder.path)
        }
    }
}
