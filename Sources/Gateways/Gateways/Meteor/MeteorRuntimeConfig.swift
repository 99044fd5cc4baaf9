import PatchFormat

/// The configuration in the index page of a Meteor app: `__meteor_runtime_config__`.
package struct MeteorRuntimeConfig: Equatable, Sendable {
    private static let opening = "__meteor_runtime_config__ = JSON.parse(decodeURIComponent(\""
    private static let closing = "\"))"
    private static let versionMember = "autoupdateVersionCordova"

    private let members: JSONObject
    /// The range of the encoded configuration in the page, between the quotes.
    private let range: Range<Int>

    /// - Parameter page: The bytes of `index.html`.
    package init(page: [UInt8]) throws(MeteorError) {
        guard page.count <= Limits.meteorIndexPage,
            let opened = page.firstRange(of: Array(Self.opening.utf8))?.upperBound,
            let quote = page[opened...].firstIndex(of: UInt8(ascii: "\"")),
            page[quote...].starts(with: Self.closing.utf8),
            let text = PercentEncoding.decoded(page[opened..<quote]),
            let json = try? JSON(parsing: text), let members = json.object
        else { throw .noRuntimeConfig }
        self.members = members
        range = opened..<quote
    }

    package var appID: String? { text("appId") }
    package var rootURL: String? { text("ROOT_URL") }
    /// The version of the manifest that belongs to this page.
    package var version: String? { text(Self.versionMember) }

    private func text(_ key: String) -> String? {
        if case .string(let text) = members[key] { text.text } else { nil }
    }

    /// The five checks of Meteor's client on the index page of a new version.
    ///
    /// - Parameters:
    ///   - version: The version of the manifest.
    ///   - current: The configuration of the active version, for comparison.
    package func check(version expected: String, current: MeteorRuntimeConfig) throws(MeteorError) {
        if let version, version != expected { throw .indexVersion(expected: expected, actual: version) }
        guard let rootURL, let host = Self.host(of: rootURL) else { throw .noRootURL }
        if host == Self.localhost, current.rootURL.flatMap(Self.host(of:)) != Self.localhost {
            throw .rootURLIsLocalhost
        }
        guard let appID else { throw .noAppID }
        guard appID == current.appID else { throw .otherApp(rootURL: rootURL) }
    }

    private static let localhost = "localhost"

    /// The host of an absolute URL, empty if it has none, or nil for an invalid URL.
    private static func host(of url: String) -> String? {
        guard !url.isEmpty, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        guard let start = url.firstRange(of: "://")?.upperBound else { return "" }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if place.hasPrefix("[") { return String(place.prefix { $0 != "]" }) }
        return String(place.prefix { $0 != ":" })
    }

    /// Returns the page with another version and otherwise the same configuration.
    package func page(_ page: [UInt8], saying version: String) -> [UInt8] {
        var members = members
        members[Self.versionMember] = .text(version)
        let text = String(decoding: JSON.object(members).canonicalBytes, as: UTF8.self)
        return Array(page[..<range.lowerBound]) + URLLayout.percentEncoded(text).utf8 + page[range.upperBound...]
    }

    /// The configuration in canonical form without the version, from which a version is computed.
    package var identity: [UInt8] {
        var members = members
        members[Self.versionMember] = nil
        return JSON.object(members).canonicalBytes
    }
}
