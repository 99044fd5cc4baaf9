import Linux
import FoundationEssentials
import PatchFormat
package import PatchStore
package import SystemPackage

extension ProjectVersions {
    /// The placeholder version that templates write, which counts as absent.
    private static let unset = "0.0.0"
    private static let packageFileLimit = 1 << 20
    /// The maximum depth of a build's folder below its project: `dist/shop/browser`.
    private static let depth = 4

    /// Reads the versions of a folder's project from its nearest package.json and from `git describe`.
    ///
    /// A package.json counts in the folder and the one above it, and up to the top of its git repository. Anything that
    /// cannot be read counts as absent: the next source decides.
    package init(of folder: FilePath, files: any FileOperations) {
        let above = Self.folders(from: folder, atMost: Self.depth)
        let top = above.firstIndex { (try? files.status(of: $0.at(".git"))) != nil }
        let own = above.prefix(max(top.map { $0 + 1 } ?? 0, 2))
        packageFile = own.lazy.compactMap { Self.packageFile(in: $0, files) }.first.flatMap(\.self)
        let isRepository = Self.folders(from: folder, atMost: .max).contains {
            (try? files.status(of: $0.at(".git"))) != nil
        }
        git = isRepository ? Self.gitDescription(of: folder) : nil
    }

    private static func folders(from folder: FilePath, atMost count: Int) -> [FilePath] {
        var (place, found): (FilePath, [FilePath]) = (folder, [])
        while found.count < count {
            found.append(place)
            let parent = place.parent
            guard parent != place, !parent.string.isEmpty else { break }
            place = parent
        }
        return found
    }

    /// The version in package.json: nil inside if it is missing or a placeholder, nil outside if the file cannot be read.
    private static func packageFile(in folder: FilePath, _ files: any FileOperations) -> String?? {
        guard let bytes = try? files.read(folder.at("package.json"), limit: packageFileLimit) else { return nil }
        let version = (try? JSONDecoder().decode(PackageFile.self, from: Data(bytes)))?.version
        return .some(version == unset ? nil : version)
    }

    private struct PackageFile: Decodable {
        let version: String?
    }

    /// The nearest tag that names a version, `1.2.3` of `v1.2.3`, or `1.2.3-4-gabcdef` four commits behind it.
    private static func gitDescription(of folder: FilePath) -> String? {
        var environment = ProcessInfo.processInfo.environment
        environment["LC_ALL"] = "C"
        environment["GIT_OPTIONAL_LOCKS"] = "0"
        // Git's error message for a folder without tags is of no use to the user.
        let command = [
            "exec", "git", "-C", "\"$1\"", "describe", "--tags", "--match", "'v[0-9]*'", "--match", "'[0-9]*'",
            "2>/dev/null",
        ].joined(separator: " ")
        guard
            let outcome = try? ChildProcess.run(
                ["/bin/sh", "-c", command, "sh", folder.string],
                environment: environment.map { "\($0)=\($1)" },
                timeout: 10,
                limit: 1_024
            ), outcome.status == 0
        else { return nil }
        let text = String(decoding: outcome.output, as: UTF8.self).filter { !$0.isWhitespace }
        let version = text.hasPrefix("v") ? String(text.dropFirst()) : text
        return VersionLabel(version) == nil ? nil : version
    }
}
