package import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import NIOPosix
import PatchFormat
package import SystemPackage

/// What is served now: one bundle, and the launch that a page may speak for.
package struct ServedSelection: Sendable {
    /// Nil before the first install.
    package let table: AssetTable?
    /// The token of a running trial; nil when there is nothing to confirm.
    package let launch: String?

    package init(table: AssetTable?, launch: String?) {
        self.table = table
        self.launch = launch
    }

    package static let nothing = ServedSelection(table: nil, launch: nil)
}

/// Serves the active bundle: manifest URL, then the app's own folder, then client-side routes (M18).
///
/// What is served changes in one step, by ``serve(_:)``; a request sees one selection or the other.
package final class AssetServer: FileSource {
    /// What became of a page's "I am ready".
    package enum Readiness: String, Sendable {
        case confirmed, alreadyConfirmed, otherLaunch, failed
    }

    /// What became of a page's wish to run what waits.
    package enum Switching: Sendable {
        case switched
        /// In words.
        case refused(String)
    }

    package let acceptsBodies = true
    /// The edition counts what ever decided otherwise than before.
    private let served = NIOLockedValueBox((selection: ServedSelection.nothing, edition: 0))
    private let delegate = NIOLockedValueBox<(any RequestDelegate)?>(nil)
    private let www: FolderFiles?
    private let localFiles: FolderFiles?
    private let confirm: @Sendable (String) async -> Readiness
    private let switchToPending: @Sendable () async -> Switching

    /// - Parameters:
    ///   - www: a folder of the app itself, asked after the bundle; its `application/` is never served.
    ///   - localFiles: a folder whose files answer `/local-filesystem/…`; nothing does without it.
    ///   - switchToPending: called when a page wants to run what waits.
    ///   - confirm: called with the launch token that a page sends back.
    package init(
        www: FilePath? = nil,
        localFiles: FilePath? = nil,
        switchToPending: @escaping @Sendable () async -> Switching = { .refused("No pending version to switch to") },
        confirm: @escaping @Sendable (String) async -> Readiness
    ) {
        self.www = www.map(FolderFiles.init(root:))
        self.localFiles = localFiles.map(FolderFiles.init(root:))
        self.confirm = confirm
        self.switchToPending = switchToPending
    }

    package func serve(_ selection: ServedSelection) {
        served.withLockedValue { $0 = (selection, $0.edition + 1) }
    }

    package var edition: Int { served.withLockedValue(\.edition) }

    /// From now on requests that it takes go to it, unless they are the page API's or there is a file for them: it comes
    /// before client-side routes.
    package func delegate(to delegate: any RequestDelegate) {
        self.delegate.withLockedValue { $0 = delegate }
        served.withLockedValue { $0.edition += 1 }
    }

    package func intake(of request: FileRequest) -> BodyIntake {
        delegate(for: request, served.withLockedValue(\.selection.table))?.intake(of: request) ?? .whole
    }

    private func delegate(for request: FileRequest, _ table: AssetTable?) -> (any RequestDelegate)? {
        guard let delegate = delegate.withLockedValue(\.self), delegate.takes(request),
            ![PageAPI.prefix, "local-filesystem"].contains(request.path.segments.first),
            table?.asset(at: request.path.text) == nil
        else { return nil }
        return delegate
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        let selection = served.withLockedValue(\.selection)
        if request.path.segments.first == PageAPI.prefix { return await page(request, selection) }
        if let delegate = delegate(for: request, selection.table), file(at: request.path) == nil {
            return await delegate.answer(request)
        }
        switch destination(of: request, selection) {
        case .known(let answer): return answer
        case .asset(let row, let table, let isImmutable): return await answer(row, table, isImmutable: isImmutable)
        }
    }

    /// Everything but the page's own API, what a delegate may answer, and an asset whose file must be read first.
    ///
    /// What one of the app's folders had a word in is asked for again each time.
    package func prepared(_ request: FileRequest) -> PreparedReply? {
        let (selection, edition) = served.withLockedValue(\.self)
        guard request.path.segments.first != PageAPI.prefix, delegate(for: request, selection.table) == nil
        else { return nil }
        switch destination(of: request, selection) {
        case .known(let answer): return PreparedReply(answer)
        case .asset(let row, let table, let isImmutable):
            guard let file = table.files.recorded(row) else { return nil }
            let isAlone = www == nil && localFiles == nil || table.asset(at: request.path.text) != nil
            return PreparedReply(
                .file(served(row, file, table, isImmutable: isImmutable)),
                edition: isAlone ? edition : nil
            )
        }
    }

    /// What a request leads to, before any file of the bundle is looked at.
    private enum Destination {
        case known(FileAnswer)
        case asset(BundleIndex.Row, AssetTable, isImmutable: Bool)
    }

    private func destination(of request: FileRequest, _ selection: ServedSelection) -> Destination {
        guard request.method == .GET || request.method == .HEAD else {
            let headers: HTTPHeaders = ["Allow": "GET, HEAD"]
            return .known(.refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: headers))
        }
        guard let table = selection.table else {
            let headers: HTTPHeaders = ["Retry-After": "5"]
            return .known(.refused(.serviceUnavailable, message: "Nothing is installed yet.", headers: headers))
        }
        if let row = table.asset(at: request.path.text) {
            return .asset(row, table, isImmutable: row.isImmutable(under: request))
        }
        if let file = file(at: request.path) { return .known(.file(file)) }
        guard let index = table.route(request.path.segments) else { return .known(.notFound) }
        return .asset(index, table, isImmutable: false)
    }

    private func answer(_ row: BundleIndex.Row, _ table: AssetTable, isImmutable: Bool) async -> FileAnswer {
        if let file = table.files.recorded(row) { return .file(served(row, file, table, isImmutable: isImmutable)) }
        // A disk may stall; the threads that run Swift's tasks must not.
        let examined = try? await NIOThreadPool.singleton.runIfActive { table.files.examined(row) }
        if let file = examined ?? nil { return .file(served(row, file, table, isImmutable: isImmutable)) }
        return .refused(
            .serviceUnavailable,
            message: "\(row.path) is damaged on this device; the next sync heals it.",
            headers: ["Retry-After": "5"]
        )
    }

    private func served(
        _ asset: BundleIndex.Row,
        _ file: AssetFile,
        _ table: AssetTable,
        isImmutable: Bool
    ) -> ServedFile {
        var headers: HTTPHeaders = [:]
        if let map = table.sourceMap(of: asset) {
            headers.add(name: "SourceMap", value: map)
            headers.add(name: "X-SourceMap", value: map)
        }
        return ServedFile(
            path: file.path,
            root: file.root,
            entityTag: asset.sha256.hex,
            contentType: ContentType.of(path: asset.path),
            cacheControl: isImmutable ? "max-age=31536000, public" : "no-cache",
            headers: headers,
            size: asset.size,
            stamp: file.stamp
        )
    }

    /// A file of the app's own folder, or of the one that `/local-filesystem/` stands for.
    private func file(at path: RequestPath) -> ServedFile? {
        if path.segments.first == "local-filesystem" {
            guard
                let rest = try? RequestPath(
                    parsing: "/" + path.segments.dropFirst().map(URLLayout.percentEncoded).joined(separator: "/")
                )
            else { return nil }
            return (try? localFiles?.lookUp(rest)).flatMap { $0 }.map { ServedFile($0) }
        }
        guard path.segments.first != "application" else { return nil }
        return (try? www?.lookUp(path)).flatMap { $0 }.map { ServedFile($0) }
    }

    private func page(_ request: FileRequest, _ selection: ServedSelection) async -> FileAnswer {
        switch (request.path.segments.dropFirst().first, request.method) {
        case ("launch.js", .GET), ("launch.js", .HEAD): return PageAPI.launchScript(token: selection.launch)
        case ("confirm", .POST):
            guard let token = PageAPI.launch(in: request.query) else {
                return PageAPI.json(.badRequest, "error", "confirm needs ?launch=TOKEN")
            }
            let readiness = await confirm(token)
            switch readiness {
            case .confirmed, .alreadyConfirmed: return PageAPI.json(.ok, "result", readiness.rawValue)
            case .otherLaunch: return PageAPI.json(.conflict, "error", "this page belongs to another launch")
            case .failed: return PageAPI.json(.internalServerError, "error", "the device could not write its state")
            }
        case ("switch", .POST):
            guard request.headers.contains(name: PageAPI.switchHeader) else {
                return PageAPI.json(.badRequest, "error", "switch needs the header \(PageAPI.switchHeader)")
            }
            switch await switchToPending() {
            case .switched: return PageAPI.json(.ok, "result", "switched")
            case .refused(let why): return PageAPI.json(.conflict, "error", why)
            }
        default: return .notFound
        }
    }
}

extension BundleIndex.Row {
    /// A year's caching is for URLs that name their content: by a query, or by 40 hex digits in the path (M19).
    fileprivate func isImmutable(under request: FileRequest) -> Bool {
        guard cacheable else { return false }
        if request.query?.isEmpty == false { return true }
        var run = 0
        for byte in request.path.text.utf8 {
            run = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) ? run + 1 : 0
            if run == 40 { return true }
        }
        return false
    }
}
