import HTTPFiles
import NIOHTTP1

/// What is below `/__patchline/`.
extension AssetServer {
    /// - Parameter lease: on the selection that answers, where a newer one is served by now.
    func call(
        _ request: FileRequest,
        _ selection: ServedSelection,
        _ host: (any PageHost)?,
        lease: Lease?
    ) -> Decision {
        switch PageAPI.Reading(request) {
        case .refused(let answer): return .answer(answer)
        case .call(.script): return .answer(PageAPI.script(token: selection.launch))
        case .call(.scripts): return .answer(selection.scripts.list)
        case .call(.patch(let id)):
            guard let script = selection.scripts[id] else { return .answer(.notFound) }
            let type = settings.types.type(of: "\(id).js")
            let answer = ScriptAnswer(script: script, files: selection.scripts.files, contentType: type, lease: lease)
            return answer.recorded.map { .answer($0) } ?? .examine(answer, [:])
        case .call(.events):
            return .events(
                after: request.headers.first(name: "Last-Event-ID") ?? PageAPI.after(in: request.query),
                [:]
            )
        case .call(let call):
            guard let host else {
                return .answer(PageAPI.json(.serviceUnavailable, "error", "the app is still starting"))
            }
            return .call(PendingCall(call: call, selection: selection, host: host, events: events))
        }
    }

    /// Its place is taken here and nowhere else: a decision may be made twice for one request.
    func eventStream(after last: String?) -> FileAnswer {
        guard let pieces = events.subscribe(after: last) else {
            return .refused(.serviceUnavailable, message: "Too many open pages.", headers: ["Retry-After": "5"])
        }
        return .stream(
            ServedStream(
                headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-store"],
                isEndless: true,
                pieces: pieces
            )
        )
    }
}
