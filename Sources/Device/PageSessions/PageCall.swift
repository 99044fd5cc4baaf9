import APIProxy
import AssetServer
import HTTPCore
import HTTPFiles
import NIOConcurrencyHelpers
import NIOHTTP1
import PageDiff
import PatchFormat

/// `/__patchline/page?path=/live%3Fx&visit=NAME`: the request for the outcome of a visit.
struct PageCall {
    /// The page's path and query as the browser sends them.
    let target: String
    /// The visit's name, or nil for the last visit of the page.
    let visit: String?

    static func isPageCall(_ request: FileRequest) -> Bool {
        request.path.segments == [PageAPI.prefix, "page"] && (request.method == .GET || request.method == .HEAD)
    }

    init?(query: String?) {
        var values: [String: String] = [:]
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let bytes = PercentEncoding.decoded(parts[1].utf8),
                let text = String(validating: bytes, as: UTF8.self)
            else { continue }
            values[parts[0]] = text
        }
        guard let target = values["path"], target.hasPrefix("/") else { return nil }
        (self.target, visit) = (target, values["visit"])
    }
}

extension LivePageProxy {
    func answer(toCall request: FileRequest) async -> FileAnswer {
        // Uses the account of the present request.
        guard let call = PageCall(query: request.query),
            let page = try? FileRequest(getting: call.target, headers: request.headers)
        else { return Self.json(.badRequest, [("error", .text("page needs ?path=/PATH, percent-encoded"))]) }
        guard let rule = settings.rules.rule(for: page.path), let place = PagePlace(page, by: rule),
            let visit = table.withLockedValue({ $0.visit(call.visit, of: place.session) })
        else { return Self.unknown }
        guard let known = await within(PageLimits.callTime, { await visit.end.value() }) else {
            return Self.json(.gatewayTimeout, [("error", .text("the page's server has not answered yet"))])
        }
        guard let end = known ?? nil else { return Self.unknown }
        let cookies = table.withLockedValue {
            $0.takeLate(place.session, visit: call.visit, at: settings.now())
        }
        return Self.json(.ok, end.result.json(savedAt: end.savedAt), HTTPHeaders(cookies.map { ("Set-Cookie", $0) }))
    }

    private static var unknown: FileAnswer {
        json(.notFound, [("error", .text("no visit of this page is known, or it was over 30 seconds ago"))])
    }

    private static func json(_ status: HTTPResponseStatus, _ members: [(String, JSON?)]) -> FileAnswer {
        json(status, .fields(members), [:])
    }

    private static func json(_ status: HTTPResponseStatus, _ value: JSON, _ fields: HTTPHeaders) -> FileAnswer {
        .bytes(
            ServedBytes(
                status: status,
                bytes: value.fileBytes,
                contentType: "application/json",
                cacheControl: "no-store",
                headers: fields
            )
        )
    }
}
