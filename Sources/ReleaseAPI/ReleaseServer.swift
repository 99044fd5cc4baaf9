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

    package func decide(_ request: FileRequest) -> FileDecision {
        if let api = delegate(of: request) { return api.decide(request) }
        if let fault = request.spellingFault {
            return refusal(of: request, .refused(.badRequest, message: "Bad request: \(fault).", headers: [:]))
        }
        guard request.isRead else {
            let headers: HTTPHeaders = ["Allow": "GET, HEAD"]
            return refusal(of: request, .refused(.methodNotAllowed, message: "Only GET and HEAD.", headers: headers))
        }
        return tree.decide(request)
    }

    private func refusal(of request: FileRequest, _ answer: FileAnswer) -> FileDecision {
        // What nobody takes is refused without its body.
        request.isRead ? .now(PreparedReply(answer)) : .later(.stream) { _ in answer }
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
