package import PatchFormat
package import PatchStore
import PatchTrust
package import SystemPackage

/// The output of `patchsign root publish`: the newest root, the previous ones, and the top targets role.
///
/// Parsed but not verified: ``RootChain`` and ``RootOfTrust`` do that.
package struct TrustUpload: Sendable {
    /// The version of the newest root.
    package let version: Int
    /// The app in the newest root, if any.
    package let app: AppID?
    /// The roots by version, including the newest.
    package let roots: [Int: [UInt8]]
    package let targets: [UInt8]

    /// - Throws: `malformed` if the root cannot be parsed.
    package init(root: [UInt8], earlier: [Int: [UInt8]] = [:], targets: [UInt8]) throws(ServerError) {
        let role: RootRole
        do throws(FormatError) {
            role = try RootRole(try Envelope(root, role: "root", limit: Limits.root))
        } catch { throw .malformed(error) }
        version = role.header.version
        app = role.app
        if let same = earlier[version], same != root { throw .trust(.forked("root", version: version)) }
        roots = earlier.filter { $0.key < role.header.version }.merging([version: root]) { _, newest in newest }
        self.targets = targets
    }

    /// - Parameter earlierRoots: in any order.
    package init(root: [UInt8], earlierRoots: [[UInt8]], targets: [UInt8]) throws(ServerError) {
        var earlier: [Int: [UInt8]] = [:]
        for bytes in earlierRoots {
            do throws(FormatError) {
                let version = try RootRole(try Envelope(bytes, role: "root", limit: Limits.root)).header.version
                earlier[version] = bytes
            } catch { throw .malformed(error) }
        }
        try self.init(root: root, earlier: earlier, targets: targets)
    }

    /// Reads only `root.json`, `targets.json` and every `N.root.json` of a folder.
    ///
    /// Of the numbered ones, reads the newest that a device would follow in one refresh, ``Limits/rootRotations``.
    package init(folder: FilePath, files: any FileOperations) throws(ServerError) {
        var earlier: [Int: [UInt8]] = [:]
        let root: [UInt8]
        let targets: [UInt8]
        do throws(FileError) {
            let numbered = try files.list(folder).compactMap(Self.version).sorted().suffix(Limits.rootRotations + 1)
            for version in numbered {
                earlier[version] = try files.read(folder.at("\(version).root.json"), limit: Limits.root)
            }
            root = try files.read(folder.at("root.json"), limit: Limits.root)
            targets = try files.read(folder.at("targets.json"), limit: Limits.targetsRole)
        } catch { throw .file(error) }
        try self.init(root: root, earlier: earlier, targets: targets)
    }

    private static func version(of name: String) -> Int? {
        guard case .root(let version) = TreePath.role(named: name) else { return nil }
        return version
    }
}
