import Gateways
import HTTPCore
package import HTTPFiles
import NIOCore
package import NIOHTTP1
import PatchCompression
import PatchFormat
import PatchStore
import SystemPackage

/// Serves `/APP/gateways/`: the requests of other systems' clients, in the protocols of those systems' servers.
package struct GatewayFiles: Sendable {
    /// `/APP/gateways/GATEWAY/CHANNEL/…`.
    struct Place {
        let app: AppID
        let gateway: Gateway
        let channel: ChannelName
        /// The path relative to the gateway's folder, without a trailing slash; for Meteor relative to `__cordova`, percent-encoded
        /// as received.
        let path: String
    }

    private let sites: GatewaySites
    private let differences: AssetDifferences

    package init(_ folder: ServerFolder) {
        sites = GatewaySites(folder)
        differences = AssetDifferences(tree: folder.tree)
    }

    /// Whether a request is for a gateway, existing or not.
    package static func isMeant(by request: FileRequest) -> Bool {
        request.path.segments.count >= 2 && request.path.segments[1] == "gateways"
    }

    package func decide(_ request: FileRequest, edition: Int) -> FileDecision {
        guard let place = Place(request) else { return .now(PreparedReply(.notFound)) }
        if let app = sites.current(place.app) {
            if let difference = difference(request, at: place, app) { return difference }
            return .now(PreparedReply(answer(request, at: place, app), edition: edition))
        }
        return .later(.whole) { _ in
            do throws(ServerError) {
                guard let app = try await sites.made(place.app) else { return .notFound }
                if let difference = difference(request, at: place, app) { return await difference.answer(to: request) }
                return answer(request, at: place, app)
            } catch {
                return .refused(.internalServerError, message: "The release cannot be read.", headers: [:])
            }
        }
    }

    /// The answer to a request with a method other than GET and HEAD.
    package static func answer(to method: HTTPMethod) -> FileAnswer {
        let headers: HTTPHeaders = ["Allow": MeteorSite.Answer.allowed]
        guard method == .OPTIONS else {
            return .refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: headers)
        }
        return .bytes(ServedBytes(bytes: [], contentType: "text/plain", headers: headers))
    }

    private func answer(_ request: FileRequest, at place: Place, _ app: GatewaySites.App) -> FileAnswer {
        switch place.gateway {
        case .meteor: return meteor(request, at: place, app)
        case .loader, .platform: break
        }
        switch app.packages[place.gateway]?[place.channel]?[place.path] {
        case .package(let fingerprint): return .file(package(fingerprint, at: place, since: app.origin))
        case .syncFile(let bytes): return .bytes(bytes)
        case nil: return .notFound
        }
    }

    /// The file of a package.
    ///
    /// It may disappear from its URL at the next change of list or dial, and be the same when it reappears.
    private func package(_ fingerprint: Fingerprint, at place: Place, since origin: FileOrigin) -> ServedFile {
        var file = ServedFile(
            path: sites.tree.at(place.app.text).at(URLLayout.object(fingerprint.sha256)),
            root: sites.tree,
            entityTag: fingerprint.sha256.hex,
            contentType: place.gateway == .loader ? "application/zip" : ContentType.unknown,
            cacheControl: "no-cache",
            headers: ["X-Content-Type-Options": "nosniff"],
            size: fingerprint.size
        )
        file.reason = origin
        return file
    }

    private func meteor(_ request: FileRequest, at place: Place, _ app: GatewaySites.App) -> FileAnswer {
        guard let channel = app.channels[place.channel] else { return .notFound }
        switch channel.site.answer(request.method.rawValue, place.path, query: request.query) {
        case .manifest: return .bytes(channel.manifest)
        case .index: return .bytes(channel.index)
        case .asset(let asset): return .file(file(asset, request, of: place.app, since: app.origin))
        case .notFound: return .notFound
        case .options, .methodNotAllowed: return Self.answer(to: request.method)
        }
    }

    /// The difference for a browser that has an earlier version of the asset; nil for all others.
    private func difference(_ request: FileRequest, at place: Place, _ app: GatewaySites.App) -> FileDecision? {
        guard place.gateway == .meteor, request.method == .GET,
            DictionaryOffer.isTaken(request.headers["Accept-Encoding"]),
            let old = request.headers.first(name: DictionaryOffer.available).flatMap({ DictionaryOffer.digest(in: $0) }
            ),
            case .asset(let asset)? = app.channels[place.channel]?.site.answer("GET", place.path, query: request.query),
            Self.offersDifferences(asset, request), asset.fingerprint.sha256 != old
        else { return nil }
        let file = file(asset, request, of: place.app, since: app.origin)
        let name = AssetDifferences.Name(app: place.app, old: old, new: asset.fingerprint.sha256)
        return .later(.whole) { _ in
            guard let bytes = differences.bytes(name) else { return .file(file) }
            var headers = file.headers
            headers.add(name: "Content-Encoding", value: DictionaryCompressed.coding)
            headers.add(name: "ETag", value: "W/\"\(asset.fingerprint.sha1.hex)\"")
            headers.add(name: "Content-Type", value: asset.meteorContentType)
            headers.add(name: "Cache-Control", value: file.cacheControl)
            return .stream(
                ServedStream(headers: headers, length: bytes.count) { write in try await write(ByteBuffer(bytes: bytes))
                }
            )
        }
    }

    /// Whether an answer depends on the browser's cache, as its `Vary` then states.
    private static func offersDifferences(_ asset: Asset, _ request: FileRequest) -> Bool {
        asset.cacheable && !namesOther(request, than: asset) && asset.fingerprint.size <= AssetDifferences.largest
    }

    /// Whether a query names another version.
    private static func namesOther(_ request: FileRequest, than asset: Asset) -> Bool {
        let hash = asset.fingerprint.sha1.hex
        return request.query.map { $0.utf8.count == hash.utf8.count && $0 != hash } ?? false
    }

    /// - Parameters:
    ///   - request: its query may name another version, as an older manifest does; then the answer must not be cached under that
    ///     name.
    ///   - origin: the origin of the mapping from paths to files, which the next release changes.
    private func file(
        _ asset: Asset,
        _ request: FileRequest,
        of app: AppID,
        since origin: FileOrigin
    ) -> ServedFile {
        let isOther = Self.namesOther(request, than: asset)
        var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff"]
        // Same as Meteor's server.
        if asset.cacheable { headers.add(name: "Vary", value: "User-Agent") }
        if Self.offersDifferences(asset, request) {
            headers.add(name: DictionaryOffer.offer, value: DictionaryOffer.value(for: request.spelledPath))
            headers.add(name: "Vary", value: "Accept-Encoding, \(DictionaryOffer.available)")
        }
        if let map = asset.sourceMap { headers.add(name: "X-SourceMap", value: URLLayout.asset(map)) }
        var file = ServedFile(
            path: sites.tree.at(app.text).at(URLLayout.object(asset.fingerprint.sha256)),
            root: sites.tree,
            entityTag: asset.fingerprint.sha1.hex,
            contentType: asset.meteorContentType,
            cacheControl: asset.cacheable && !isOther ? "max-age=31536000" : "max-age=0",
            headers: headers,
            size: asset.fingerprint.size
        )
        file.reason = origin
        return file
    }
}

extension GatewayFiles.Place {
    init?(_ request: FileRequest) {
        let segments = request.path.segments
        guard segments.count >= 5, let gateway = Gateway(rawValue: segments[2]), let app = AppID(segments[0]),
            let channel = ChannelName(segments[3])
        else { return nil }
        guard gateway == .meteor else {
            let path = segments.dropFirst(4).joined(separator: "/")
            self.init(app: app, gateway: gateway, channel: channel, path: path)
            return
        }
        guard "/\(segments[4])" == MeteorSite.root else { return nil }
        // Five segments precede the rest, each after its slash, and none of them contains a slash.
        let spelled = request.spelledPath.split(separator: "/", omittingEmptySubsequences: false).dropFirst(6)
        let rest = spelled.filter { !$0.isEmpty }.map { "/\($0)" }.joined()
        let path = rest.isEmpty || request.path.hasTrailingSlash ? "\(rest)/" : rest
        self.init(app: app, gateway: gateway, channel: channel, path: path)
    }
}

extension Asset {
    /// The content type, with the character set that Meteor's server sends.
    fileprivate var meteorContentType: String {
        switch type {
        case .js: "application/javascript; charset=UTF-8"
        case .css: "text/css; charset=UTF-8"
        case .json, .map: "application/json; charset=UTF-8"
        case .html, .asset: ContentType.of(path: path.text)
        }
    }
}
