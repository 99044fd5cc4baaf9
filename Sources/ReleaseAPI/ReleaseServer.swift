package import HTTPFiles
package import NIOHTTP1
package import PatchServer

/// Everything that a server answers: the published tree, and beside it the release service.
package struct ReleaseServer: FileSource {
    private let tree: PublishedTree
    private let api: ReleaseAPI?

    /// - Parameter api: nil for a server that devices alone may ask.
    package init(_ tree: PublishedTree, api: ReleaseAPI?) {
        self.tree = tree
        self.api = api
    }

    package var acceptsBodies: Bool { api != nil }

    package func intake(of request: FileRequest) -> BodyIntake {
        // What nobody takes is refused without its body.
        delegate(of: request)?.intake(of: request) ?? (request.isRead ? .whole : .stream)
    }

    package func prepared(_ request: FileRequest) -> PreparedReply? {
        guard delegate(of: request) == nil, request.isRead, request.spellingFault == nil else { return nil }
        return tree.prepared(request)
    }

    package func answer(_ request: FileRequest) async -> FileAnswer {
        if let api = delegate(of: request) { return await api.answer(request) }
        if let fault = request.spellingFault {
            return .refused(.badRequest, message: "Bad request: \(fault).", headers: [:])
        }
        guard request.isRead else {
            return .refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: ["Allow": "GET, HEAD"])
        }
        return await tree.answer(request)
    }

    package func words(for refusal: String, _ status: HTTPResponseStatus, of target: String) -> RefusalWords? {
        api == nil ? nil : ReleaseAPI.words(for: refusal, status, of: target)
    }

    private func delegate(of request: FileRequest) -> ReleaseAPI? {
        guard let api, api.takes(request) else { return nil }
        return api
    }
}

extension FileRequest {
    fileprivate var isRead: Bool { method == .GET || method == .HEAD }
}
