import HTTPCore
import HTTPFiles
import NIOHTTP1
import PageServing
import PatchServer

/// The health and metrics port of `patchsrv pages`: whether it answers, and its numbers for Prometheus.
struct PageNumbers: FileSource {
    let pages: PageService
    let process: ProcessFacts
    var names = ListenerNames.all

    func decide(_ request: FileRequest) -> FileDecision {
        if let fault = names.fault(host: request.headers.first(name: "Host"), origins: request.headers["Origin"]) {
            return .now(PreparedReply(fault.answer))
        }
        return decide(request.path.text)
    }

    private func decide(_ path: String) -> FileDecision {
        switch path {
        case "/healthz": .now(PreparedReply(Self.page("ok", type: "text/plain; charset=utf-8")))
        case "/metrics":
            .later(.whole) { _ in Self.page(text, type: "text/plain; version=0.0.4; charset=utf-8") }
        default: .now(PreparedReply(.notFound))
        }
    }

    private static func page(_ text: String, type: String) -> FileAnswer {
        .bytes(ServedBytes(bytes: Array(text.utf8), contentType: type, cacheControl: "no-store"))
    }

    var text: String {
        let tally = pages.tally
        var answers = MetricFamily(
            "patchsrv_pages_answers_total",
            .counter,
            "Inspected pages, by the kind of answer."
        )
        var sent = MetricFamily("patchsrv_pages_sent_bytes_total", .counter, "Bytes of the bodies that were sent.")
        var whole = MetricFamily(
            "patchsrv_pages_whole_bytes_total",
            .counter,
            "Bytes that the site sent for the same answers."
        )
        for outcome in PageTally.Outcome.allCases {
            let (count, labels) = (tally[outcome], [(name: "outcome", value: outcome.rawValue)])
            answers.add(.integer(count.answers), labels)
            sent.add(.integer(count.sentBytes), labels)
            whole.add(.integer(count.wholeBytes), labels)
        }
        let kept = MetricFamily(
            "patchsrv_pages_memory_bytes",
            .gauge,
            "Pages kept as the base of later differences.",
            .integer(pages.keptBytes)
        )
        return ([answers, sent, whole, kept] + process.families).map(\.text).joined()
    }
}
