import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import SystemPackage

/// All facts that a decision needs at one time, and the decision.
struct ServingFacts: Sendable {
    let access: Access
    let types: ContentTypeRules
    let www: FolderFiles?
    let localFiles: FolderFiles?
    /// The delegate for uploads, or nil if access is open.
    let uploads: (any RequestDelegate)?
    var served = ServedSelections()
    var session = Session(port: 0)
    var host: (any PageHost)?
    var delegate: (any RequestDelegate)?
    /// The number of changes that can affect a decision.
    var edition = 0

    init(
        access: Access,
        types: ContentTypeRules,
        www: FolderFiles?,
        localFiles: FolderFiles?,
        uploads: (any RequestDelegate)?
    ) {
        self.access = access
        self.types = types
        self.www = www
        self.localFiles = localFiles
        self.uploads = uploads
    }

    /// Decides on a request.
    ///
    /// Reads files of the bundle and of the app's own folders, and otherwise only memory.
    func decide(_ request: FileRequest, at now: Duration) -> AssetDecision {
        switch Admission(request, to: access, in: session) {
        case .answered(let answer): return AssetDecision(.answer(answer))
        case .admitted(let query, let fields):
            var decision = decideAdmitted(request.with(query: query), at: now)
            decision.fields.add(missing: fields)
            decision.showsRight = access.token != nil
            return decision
        case .entering: return AssetDecision(.entering)
        case .manifestOnly(let query, let closed):
            return manifestOnly(request.with(query: query), closed, at: now)
        }
    }

    /// Whether a path that cannot name a file is decided on: by the delegate, or as a page of the app.
    ///
    /// Routers put a slash into a name as `%2F`: `/package/@types%2Fnode`. A reload of such a page is no error.
    func passesAsSent(_ request: FileRequest) -> Bool {
        if delegate?.passesAsSent(request) ?? false { return true }
        guard request.method == .GET || request.method == .HEAD, ExpectedResponse(request) == .page else {
            return false
        }
        return request.path.segments.first != PageAPI.prefix && request.path.segments.first != "local-filesystem"
    }

    /// Answers a web app manifest of the bundle under its own name.
    ///
    /// The name or the type that the release signs identifies it.
    private func manifestOnly(_ request: FileRequest, _ closed: FileAnswer, at now: Duration) -> AssetDecision {
        let choice = served.choose(PageRequest(request), at: now)
        let isNamed = WebAppManifest.isNamed(request.path.text)
        guard let table = choice.selection.table, let row = table.file(at: request.path) else {
            return AssetDecision(.answer(isNamed ? .notFound : closed))
        }
        let released = table.fields(of: row, except: access.ownNames)
        guard isNamed || released.contentType.map({ HTTPHeaders.mediaType($0) }) == WebAppManifest.contentType else {
            return AssetDecision(.answer(closed))
        }
        let asset = AssetAnswer(
            row,
            of: table,
            to: request,
            types: types,
            fields: released,
            mayBeKept: false,
            isPrevious: choice.isPrevious,
            release: choice.selection.stamp
        )
        var decision = AssetDecision(asset.recorded.map { .answer($0) } ?? .examine(asset), note: choice.note)
        decision.fields = released.others
        return decision
    }

    // MARK: Requests with access

    private func decideAdmitted(_ request: FileRequest, at now: Duration) -> AssetDecision {
        let page = PageRequest(request)
        let choice = served.choose(page, at: now)
        if let uploads, uploads.takes(request) {
            let shown = Admission.withoutToken(request, port: session.port)
            return AssetDecision(.delegate(uploads, shown), note: choice.note)
        }
        if request.path.segments.first == PageAPI.prefix {
            return AssetDecision(call(request, choice.selection), note: choice.note)
        }
        if let delegate, delegate.takes(request), !hasFile(for: request, in: choice.selection.table) {
            let shown = Admission.withoutToken(request, port: session.port)
            return AssetDecision(.delegate(delegate, shown), note: choice.note)
        }
        guard request.method == .GET || request.method == .HEAD else {
            let answer = FileAnswer.refused(
                .methodNotAllowed,
                message: "Only GET and HEAD.",
                headers: ["Allow": "GET, HEAD"]
            )
            return AssetDecision(.answer(answer), note: choice.note)
        }
        guard let table = choice.selection.table else {
            return AssetDecision(.answer(nothingYet(page)), note: choice.note)
        }
        let showing = showing(request, choice)
        switch found(for: request, in: table) {
        case .file(let file): return AssetDecision(.answer(.file(file)), note: choice.note)
        case .redirect(let path): return AssetDecision(.answer(redirect(to: path, request)), note: choice.note)
        case .nothing: return AssetDecision(.answer(.notFound), note: choice.note, showing: showing)
        case .row(let row, let place):
            let isNamed = place == .own
            let released = table.fields(of: row, except: access.ownNames)
            let type = types.type(of: row, isDecoded: true, released)
            let isHTML = PagePlan.isHTML(type)
            let asset = AssetAnswer(
                row,
                of: table,
                to: request,
                types: types,
                fields: released,
                // The bytes of a page change with its stamp and its scripts.
                mayBeKept: isNamed && !choice.isForeign && !isHTML,
                isPrevious: choice.isPrevious,
                release: choice.selection.stamp,
                status: place == .missing ? .notFound : .ok
            )
            var decision: AssetDecision
            if isHTML, row.coding == nil {
                let patched = PatchedPage(
                    row,
                    of: table,
                    choice.selection,
                    to: request,
                    from: page,
                    contentType: type,
                    plain: asset
                )
                decision = AssetDecision(.page(patched), note: choice.note, showing: showing)
            } else if let answer = asset.recorded {
                let edition = showing == nil ? edition(choice, isNamed: isNamed) : nil
                decision = AssetDecision(.answer(answer), note: choice.note, showing: showing, edition: edition)
            } else {
                decision = AssetDecision(.examine(asset), note: choice.note, showing: showing)
            }
            decision.fields = released.others
            return decision
        }
    }

    /// Returns a redirect that is not cached, because another version may have a page where this one has a folder.
    private func redirect(to path: String, _ request: FileRequest) -> FileAnswer {
        let location = request.query.map { "\(path)?\($0)" } ?? path
        return .refused(
            .movedPermanently,
            message: "Continue to \(location)",
            headers: ["Location": location, "Cache-Control": "no-cache"]
        )
    }

    /// A response is decided again each time if it is from one of the app's folders, or if an open page of the previous release
    /// affected it.
    ///
    /// The same applies to pages, because the last loaded page must be known.
    private func edition(_ choice: ServedSelections.Route, isNamed: Bool) -> Int? {
        let isOfBundle = isNamed || www == nil && localFiles == nil
        return isOfBundle && choice.note == nil ? edition : nil
    }

    /// Returns nil if the request does not show a document of the current selection.
    private func showing(_ request: FileRequest, _ choice: ServedSelections.Route) -> AssetDecision.Showing? {
        let selection = choice.selection
        guard !choice.isPrevious, request.showsDocument, let stamp = selection.stamp else { return nil }
        guard selection.awaitsPage, let launch = selection.launch, let host else {
            return AssetDecision.Showing(stamp: stamp, waiting: nil)
        }
        return AssetDecision.Showing(stamp: stamp, waiting: AssetDecision.Showing.Waiting(launch: launch, host: host))
    }

    /// Decides on a call below `/__patchline/`.
    private func call(_ request: FileRequest, _ selection: ServedSelection) -> AssetDecision.Action {
        switch PageAPI.Reading(request) {
        case .refused(let answer): return .answer(answer)
        case .call(.script): return .answer(PageAPI.script)
        case .call(.pageScript): return .answer(PageAPI.pageScript)
        case .call(.page):
            guard let pages = delegate as? any PageDelegate else { return .answer(.notFound) }
            return .delegate(pages, Admission.withoutToken(request, port: session.port))
        case .call(.scripts): return .answer(selection.scripts.list)
        case .call(.language(let sha256)): return .answer(PageLanguage.answer(named: sha256))
        case .call(.patch(let id, let sha256)):
            guard let script = selection.scripts[id], sha256 == nil || sha256 == script.sha256.hex else {
                return .answer(.notFound)
            }
            let type = types.type(of: "\(id).js")
            let answer = ScriptAnswer(
                isNamed: sha256 != nil,
                script: script,
                files: selection.scripts.files,
                contentType: sha256 == nil || type.contains(";") ? type : "\(type); charset=utf-8"
            )
            return answer.recorded.map { .answer($0) } ?? .examine(answer)
        case .call(.events):
            return .events(
                after: request.headers.first(name: "Last-Event-ID") ?? PageAPI.after(in: request.query),
                isPoll: PageAPI.isPoll(request.query)
            )
        case .call(.enter): return .answer(TokenExchange.granted(nil))
        case .call(let call):
            guard let host else {
                return .answer(.stillStarting)
            }
            return .call(PendingCall(call: call, selection: selection, host: host))
        }
    }

    private func nothingYet(_ page: PageRequest) -> FileAnswer {
        if page.purpose == .document { return FirstLaunchPage.answer }
        return .refused(.serviceUnavailable, message: "Nothing is installed yet.", headers: ["Retry-After": "5"])
    }

    // MARK: Files

    private func hasFile(for request: FileRequest, in table: AssetTable?) -> Bool {
        if request.path.segments.first == "local-filesystem" { return true }
        return table?.file(at: request.path) != nil || file(at: request.path) != nil
    }

    private enum Found {
        case row(BundleIndex.Row, Place)
        case file(ServedFile)
        case redirect(path: String)
        case nothing
    }

    private enum Place {
        /// Under the URL in the manifest.
        case own
        /// Under another URL: the index answers for many.
        case other
        /// In place of a page that does not exist.
        case missing
    }

    private func found(for request: FileRequest, in table: AssetTable) -> Found {
        if let row = table.file(at: request.path) { return .row(row, .own) }
        if let file = file(at: request.path) { return .file(file) }
        switch table.route(request) {
        case .page(let row): return .row(row, .other)
        case .redirect(let path): return .redirect(path: path)
        case .notFound(let page): return page.map { .row($0, .missing) } ?? .nothing
        }
    }

    /// Returns a file of the app's own folder, or of the folder of `/local-filesystem/`.
    private func file(at path: RequestPath) -> ServedFile? {
        if path.segments.first == "local-filesystem" {
            guard let localFiles, let rest = try? RequestPath(parsing: path.droppingFirst) else { return nil }
            return file(in: localFiles, at: rest)
        }
        guard let www, path.segments.first != "application" else { return nil }
        return file(in: www, at: path)
    }

    private func file(in folder: FolderFiles, at path: RequestPath) -> ServedFile? {
        guard let found = try? folder.lookUp(path) else { return nil }
        return ServedFile(found, contentType: types.type(of: found.path.string), sendsModified: true)
    }
}
