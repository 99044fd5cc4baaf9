import HTTPAPI
import HTTPFiles
import NIOCore
import NIOHTTP1
import PatchFormat

extension ControlWork {
    var aboutEvents: [ControlRoute] {
        [
            route("/v1/events", "events", "Server-sent events of every store.") {
                (_: ControlCall) throws(APIProblem) in nil
            },
            route("\(Self.store)/events", "storeEvents", "Server-sent events of this store.") {
                call throws(APIProblem) in try host(call).name
            },
        ]
    }

    private func route(
        _ path: String,
        _ name: String,
        _ about: String,
        store: @escaping @Sendable (ControlCall) throws(APIProblem) -> String?
    ) -> ControlRoute {
        ControlRoute(
            method: .GET,
            path: path,
            name: name,
            about: about,
            headers: [
                .init(
                    name: "Last-Event-ID",
                    about:
                        "Continue after this event, one of the last \(EventLog.kept). Without it, only new events are sent.",
                    schema: .text()
                )
            ],
            answers: [
                .init(
                    status: 200,
                    about:
                        "Each `data` is an Event in JSON. `missed` counts the lost events, and ends the stream. "
                        + "It is 0 if a newer stream replaces this one: at most \(EventLog.mostListeners) are open at a time.",
                    schema: .text(),
                    mediaType: "text/event-stream"
                )
            ]
        ) { call in
            let stream = EventStream(
                log.hub,
                of: try store(call),
                after: call.request.headers.first(name: "Last-Event-ID"),
                beat: beat,
                user: call.request.user
            )
            return .stream(stream.served)
        }
    }
}
