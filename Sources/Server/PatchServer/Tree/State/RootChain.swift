import PatchFormat
import PatchStore
import PatchCrypto
package import PatchTrust

/// The roots of an app, starting with the one given to `init`, each signed by its predecessor and by itself.
///
/// They are the roots of the published tree, followed by the offered ones. A version in both must have the same bytes; a damaged
/// one in the tree is replaced by the offered one.
package struct RootChain: Sendable {
    /// The roots by version, without a gap; never empty.
    package private(set) var roots: [TrustedRoot]
    /// The newest version that readers of the tree can follow to now.
    package private(set) var publishedVersion: Int

    package var newest: TrustedRoot { roots[roots.count - 1] }

    /// - Throws: `tree` for a root of the tree that is not signed by its predecessor.
    package init(of tree: AppTree) throws(ServerError) {
        try self.init(of: tree, offered: nil)
    }

    /// - Throws: `trust` with the rule that the offered roots break.
    package init(of tree: AppTree, continuedBy offered: TrustUpload) throws(ServerError) {
        try self.init(of: tree, offered: offered)
        guard publishedVersion <= offered.version else {
            throw .trust(.older("root", offered: offered.version, current: publishedVersion))
        }
        guard offered.version - publishedVersion <= Limits.rootRotations else {
            throw .trust(.untrusted(document: "root.json", .tooManyRoots(limit: Limits.rootRotations)))
        }
    }

    private init(of tree: AppTree, offered: TrustUpload?) throws(ServerError) {
        let anchor = try tree.read(tree.anchorFile, limit: Limits.root)
        let first: TrustedRoot
        do throws(TrustError) { first = try TrustedRoot(anchor: anchor) } catch { throw .tree(tree.app, error) }
        let version = first.version
        if let offered {
            guard offered.roots[version] ?? anchor == anchor else { throw .trust(.forked("root", version: version)) }
        } else if try tree.read(.root(version: version), limit: Limits.root) != anchor {
            throw .tree(tree.app, .wrongDigest(name: "\(version).root.json", algorithm: "sha256"))
        }
        roots = [first]
        publishedVersion = version
        while try follow(tree, offered) {}
    }

    /// Adds the next root; returns false if there is none.
    private mutating func follow(_ tree: AppTree, _ offered: TrustUpload?) throws(ServerError) -> Bool {
        let version = newest.version + 1
        let file = TreePath.File.root(version: version)
        let existing = try tree.storage.read(file, limit: Limits.root)
        switch (existing, offered?.roots[version]) {
        case (nil, nil):
            guard let offered, version <= offered.version else { return false }
            throw .trust(.missingRoot(version: version))
        case (let existing?, nil):
            do throws(TrustError) { try append(existing) } catch { throw .tree(tree.app, error) }
            publishedVersion = version
        case (let existing?, let new?) where existing == new || (try? newest.following(existing)) != nil:
            guard existing == new else { throw .trust(.forked("root", version: version)) }
            do throws(TrustError) { try append(existing) } catch { throw .tree(tree.app, error) }
            publishedVersion = version
        case (_, let new?):
            do throws(TrustError) { try append(new) } catch {
                throw .trust(.untrusted(document: "\(version).root.json", error))
            }
        }
        return true
    }

    private mutating func append(_ bytes: [UInt8]) throws(TrustError) {
        roots.append(try newest.following(bytes))
    }
}
