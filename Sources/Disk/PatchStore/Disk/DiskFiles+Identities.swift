package import Linux
import Glibc
import NIOConcurrencyHelpers
package import SystemPackage

/// Reads the identities of many files, from one open directory and on all cores.
extension DiskFiles {
    package func identities(of paths: [String], below root: FilePath) throws(FileError) -> [FileIdentity?] {
        let directory: OwnedDescriptor
        do throws(FileError) { directory = try Self.openDirectory(root, during: .inspect) } catch .notFound {
            return Array(repeating: nil, count: paths.count)
        }
        let parent = directory.descriptor.rawValue
        let results = NIOLockedValueBox<[Int: Result<[FileIdentity?], FileError>]>([:])
        paths.indices.forEachPartOnAllCores { part in
            let result = Result { () throws(FileError) in
                try Self.identities(of: paths[part], in: parent, below: root)
            }
            results.withLockedValue { $0[part.lowerBound] = result }
        }
        extendLifetime(directory)
        var found: [FileIdentity?] = []
        found.reserveCapacity(paths.count)
        for (_, result) in results.withLockedValue(\.self).sorted(by: { $0.key < $1.key }) { found += try result.get() }
        return found
    }

    private static func identities(
        of paths: ArraySlice<String>,
        in directory: CInt,
        below root: FilePath
    ) throws(FileError) -> [FileIdentity?] {
        var found: [FileIdentity?] = []
        found.reserveCapacity(paths.count)
        for path in paths {
            var stat = stat()
            guard unsafe fstatat(directory, path, &stat, AT_SYMLINK_NOFOLLOW) == 0 else {
                let reason = Errno(rawValue: errno)
                guard reason == .noSuchFileOrDirectory || reason == .notDirectory else {
                    throw FileError(reason, .inspect, root.at(path))
                }
                found.append(nil)
                continue
            }
            found.append(stat.st_mode & S_IFMT == S_IFREG ? FileIdentity(stat) : nil)
        }
        return found
    }
}
