import Linux
package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// A file of a backup without a signature: the records, and the server's files of each app and draft.
package struct BackedUpFile: Hashable, Sendable {
    /// The path relative to the backup's folder.
    package let path: String
    package let size: Int
    package let sha256: SHA256Digest

    package static let records = "records.sqlite"
    /// Excludes the published tree: its files are signed, or verified by signed files.
    private static let folders = ["apps", "drafts"]

    /// The difference between a backup and its description.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package enum Rule: Equatable, Sendable {
            case missing
            case link
            case size(Int, expected: Int)
            case content
            case unknown
        }

        package let path: String
        package let rule: Rule

        package var description: String {
            switch rule {
            case .missing: "\(path) is missing"
            case .link: "\(path) is a link, not a file"
            case .size(let size, let expected): "\(path) has \(size) bytes, not \(expected)"
            case .content: "\(path) is not the file that was backed up"
            case .unknown: "\(path) was not backed up"
            }
        }
    }

    /// Reads all such files, sorted by path.
    package static func all(in backup: FilePath, files: any FileOperations) throws(ServerError) -> [BackedUpFile] {
        do throws(FileError) {
            var all: [BackedUpFile] = []
            for path in try paths(in: backup, files) {
                guard try files.status(of: backup.at(path))?.kind == .file else { continue }
                all.append(try BackedUpFile(path, in: backup, files))
            }
            return all
        } catch { throw .file(error) }
    }

    /// The first difference between a backup and its description, or nil.
    ///
    /// - Parameter described: nil for a backup of an older program. Then only missing and linked files are found, not changed ones.
    package static func fault(
        in backup: FilePath,
        _ described: [BackedUpFile]?,
        files: any FileOperations
    ) throws(ServerError) -> Fault? {
        do throws(FileError) {
            let paths = try paths(in: backup, files)
            for path in paths where try files.status(of: backup.at(path))?.kind != .file {
                return Fault(path: path, rule: .link)
            }
            guard let described else { return paths.contains(records) ? nil : Fault(path: records, rule: .missing) }
            let known = Dictionary(described.map { ($0.path, $0) }) { first, _ in first }
            for path in known.keys.sorted() where !paths.contains(path) { return Fault(path: path, rule: .missing) }
            for path in paths {
                guard let file = known[path] else { return Fault(path: path, rule: .unknown) }
                let found = try BackedUpFile(path, in: backup, files)
                guard found.size == file.size else {
                    return Fault(path: path, rule: .size(found.size, expected: file.size))
                }
                guard found.sha256 == file.sha256 else { return Fault(path: path, rule: .content) }
            }
            return nil
        } catch { throw .file(error) }
    }

    private init(_ path: String, in backup: FilePath, _ files: any FileOperations) throws(FileError) {
        let reader = try files.open(backup.at(path), limit: 1 << 53)
        var digester = Digester()
        while let bytes = try reader.next() { digester.update(bytes) }
        let fingerprint = digester.finish()
        (self.path, size, sha256) = (path, fingerprint.size, fingerprint.sha256)
    }

    /// All paths except folders, including links, sorted.
    private static func paths(in backup: FilePath, _ files: any FileOperations) throws(FileError) -> [String] {
        var paths: [String] = []
        func list(_ path: String) throws(FileError) {
            switch try files.status(of: backup.at(path))?.kind {
            case .directory: for name in try files.list(backup.at(path)) { try list("\(path)/\(name)") }
            case nil: break
            default: paths.append(path)
            }
        }
        for name in folders + [records] { try list(name) }
        return paths.sorted()
    }
}

extension BackedUpFile {
    init(_ fields: Fields) throws(FormatError) {
        path = try fields.string("path")
        size = try fields.integer("size", in: 0...(1 << 53 - 1))
        sha256 = try fields.digest("sha256")
    }

    var json: JSON {
        .fields([("path", .text(path)), ("size", .integer(size)), ("sha256", .text(sha256.hex))])
    }
}
