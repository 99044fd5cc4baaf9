package import PatchFormat

/// A file of a Meteor app's version, as listed in its manifest.
package struct MeteorAsset: Equatable, Sendable {
    package static let index = AssetPath.index
    /// The name under which a device stores the manifest.
    package static let kept = AssetPath.program

    package let path: AssetPath
    /// The URL path that the page asks for, without the manifest's query: `/app/mobileapp.js`.
    package let url: String
    /// The type in the manifest, such as `js`, `css`, `asset`, `json` or `dynamic js`, which has no effect.
    package let type: String
    package let isCacheable: Bool
    /// The hash of the file's bytes.
    ///
    /// Nil for the index page, and for a source map, whose URL contains its hash.
    package let hash: SHA1Digest?
    /// The size in bytes according to the manifest, or nil if it is not listed.
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

    /// The index page, which is not listed in manifests.
    package static let indexPage = MeteorAsset(path: index, url: "/", type: "html", isCacheable: false, hash: nil)

    /// The path of the request, below the server's `ROOT_URL`.
    ///
    /// The query makes a Meteor server answer an unknown path with 404 in place of the index page.
    package var request: String {
        self == .indexPage ? "__cordova/" : "__cordova\(url)?\(MeteorSite.doNotServeIndex)=true"
    }

    /// Checks a response as Meteor's client does: the status, and the entity tag if it is a hash.
    ///
    /// - Parameter entityTag: The header's value, `"…"` or `W/"…"`. A tag without a hash is ignored.
    package func check(status: Int, entityTag: String?) throws(MeteorError) {
        guard (200..<300).contains(status) else { throw .assetStatus(status, url: url) }
        guard let hash, let found = entityTag.flatMap(MeteorETag.hash(in:)) else { return }
        guard found == hash else { throw .hashMismatch(url: url) }
    }

    /// Checks that the body has the manifest's hash, which Meteor's client does not do.
    package func check(body: SHA1Digest) throws(MeteorError) {
        if let hash, hash != body { throw .hashMismatch(url: url) }
    }
}

/// The number of bytes that a device may download for one version.
package struct MeteorBudget: Sendable {
    package let limit: Int
    package private(set) var received = 0

    package init(_ limit: Int) {
        self.limit = limit
    }

    /// Checks the sizes in the manifest before anything is downloaded.
    package func check(_ assets: [MeteorAsset]) throws(MeteorError) {
        var total = 0
        for asset in assets {
            let (sum, isTooMuch) = total.addingReportingOverflow(asset.size ?? 0)
            total = isTooMuch ? .max : sum
        }
        guard total <= limit else { throw .tooLarge(total, limit: limit) }
    }

    /// Counts received bytes, because a manifest may list smaller sizes than the server sends, or none.
    ///
    /// - Returns: False if the limit is exceeded.
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
    /// The first 40 hex digits that fill a pair of quotes.
    ///
    /// Only lowercase digits are accepted, as in Meteor's client.
    package static func hash(in text: String) -> SHA1Digest? {
        for piece in text.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().dropLast() {
            if let digest = SHA1Digest(hex: String(piece)) { return digest }
        }
        return nil
    }

    package static func text(of hash: SHA1Digest) -> String { "\"\(hash.hex)\"" }
}
