import HTTPAPI
import NIOHTTP1
import PatchFormat
import ServerRecords

extension APIWork {
    var aboutAudit: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: "/audit",
                name: "listAudit",
                about: "Every change that was made, the oldest first, each with the hash of the one before.",
                access: .server(.admin),
                query: [
                    .init(name: "after", about: "Only entries after this number.", schema: .natural),
                    .init(
                        name: "limit",
                        about: "The maximum number; 100 by default.",
                        schema: .integer(1...500)
                    ),
                    .init(
                        name: "last",
                        about: "The number of newest entries, in place of both.",
                        schema: .integer(1...500)
                    ),
                ],
                answers: [
                    .init(
                        status: 200,
                        about: "A page of a megabyte at most; `next` is the `after` of the next page.",
                        schema: .object([("entries", .array(.document))], optional: [("next", .positive)])
                    )
                ],
                work: { call in
                    let last = try call.query("last", in: 1...500)
                    let end = last == nil ? 0 : try await records.lastAuditEntry()?.number ?? 0
                    let (entries, next) = try await records.auditPage(
                        after: try last.map { max(0, end - $0) } ?? call.query("after", in: 0...(1 << 53 - 1)) ?? 0,
                        limit: try last ?? call.query("limit", in: 1...500) ?? 100
                    )
                    return .json(
                        .fields([("entries", .array(entries.map(\.json))), ("next", next.map { .integer($0) })])
                    )
                }
            )
        ]
    }
}
