package import PatchFormat

/// One file of a Meteor app's version, as its manifest names it.
package struct MeteorAsset: Equatable, Sendable {
    package static let index = AssetPath.index
    /// Under which name a device keeps the manifest.
    package static let kept = AssetPath.program

    package let path: AssetPath
    /// The URL path that the page asks for, without the manifest's query: `/app/mobileapp.js`.
    package let url: String
    /// `js`, `css`, `asset`, `json`, `dynamic js`…: what the manifest says, nothing depends on it.
    package let type: String
    package let isCacheable: Bool
    /// Of its bytes; nil of a source map, whose URL carries one, and of the index page.
    package let hash: SHA1Digest?
    /// In bytes, as the manifest announces it; nil where it says nothing.
    package let size: Int?
    /// The URL path of its source map.
    package let sourceMap: String?

    package init(
        path: AssetPath,
        url: String,
        type: String,
        isCacheable: Bool,
        hash: SHA1Digest?,
        size: Int? = nil,
        sourceMap: String? = nil
    ) {
        self.path = path
        self.url = url
        self.type = type
        self.isCacheable = isCacheable
        self.hash = hash
        self.size = size
        self.sourceMap = sourceMap
    }

    /// The page itself, which no manifest names.
    package static let indexPage = MeteorAsset(path: index, url: "/", type: "html", isCacheable: false, hash: nil)

    /// Where it is asked for, below the server's `ROOT_URL`.
    ///
    /// A Meteor server answers an unknown path with the index page, unless it is told not to.
    package var request: String {
        self == .indexPage ? "__cordova/" : "__cordova\(url)?\(MeteorSite.doNotServeIndex)=true"
    }

    /// What Meteor's client looks at: the status, and an entity tag that is a hash.
    ///
    /// - Parameter entityTag: as the answer has it, `"…"` or `W/"…"`. One that holds no hash says nothing.
    package func check(status: Int, entityTag: String?) throws(MeteorError) {
        guard (200..<300).contains(status) else { throw .assetStatus(status, url: url) }
        guard let hash, let found = entityTag.flatMap(MeteorETag.hash(in:)) else { return }
        guard found == hash else { throw .hashMismatch(url: url) }
    }

    /// That its bytes are the manifest's, which Meteor's client never looks at.
    package func check(body: SHA1Digest) throws(MeteorError) {
        if let hash, hash != body { throw .hashMismatch(url: url) }
    }
}

/// How much one version may make a device download.
package struct MeteorBudget: Sendable {
    package let limit: Int
    package private(set) var received = 0

    package init(_ limit: Int) {
        self.limit = limit
    }

    /// Before anything is downloaded: by what the manifest announces.
    package func check(_ assets: [MeteorAsset]) throws(MeteorError) {
        var total = 0
        for asset in assets {
            let (sum, isTooMuch) = total.addingReportingOverflow(asset.size ?? 0)
            total = isTooMuch ? .max : sum
        }
        guard total <= limit else { throw .tooLarge(total, limit: limit) }
    }

    /// On the way: a manifest may announce less than comes, or nothing.
    ///
    /// - Returns: whether they may come.
    package mutating func take(_ bytes: Int) -> Bool {
        received += bytes
        return received <= limit
    }
}

extension AssetPath {
    /// The page, `index.html`.
    fileprivate static let index = constant("index.html")
    fileprivate static let program = constant("program.json")

    private static func constant(_ text: String) -> AssetPath {
        do { return try AssetPath(text) } catch { preconditionFailure("a constant path: \(error)") }
    }
}

/// The entity tags of Meteor's servers.
package enum MeteorETag {
    /// The 40 hex digits between the first pair of quotes that holds just these.
    ///
    /// Lowercase, as Meteor's client has it.
    package static func hash(in text: String) -> SHA1Digest? {
        for piece in text.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().dropLast() {
            if let digest = SHA1Digest(hex: String(piece)) { return digest }
        }
        return nil
    }

    package static func text(of hash: SHA1Digest) -> String { "\"\(hash.hex)\"" }
}
