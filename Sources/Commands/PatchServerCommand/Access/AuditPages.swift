import ArgumentParser
import PatchFormat
import PatchServer
import ReleaseClient
import ServerRecords

/// The pages of a server's audit log, read from its folder or over HTTP.
struct AuditPages: Sendable {
    /// At most `limit` entries after a number, and the number after which the next page begins, or nil on the last page.
    let page: @Sendable (_ after: Int, _ limit: Int) async throws -> (entries: [JSON], next: Int?)
    /// The number of the newest entry, or 0 for an empty log.
    let newest: @Sendable () async throws -> Int

    func entries(after first: Int, atMost limit: Int) async throws -> [JSON] {
        var entries: [JSON] = []
        var next: Int? = first
        while let number = next, entries.count < limit {
            let page = try await page(number, min(ServerRecords.auditEntriesAtATime, limit - entries.count))
            entries += page.entries
            next = page.next
        }
        return entries
    }

    /// Passes every page to `body`, oldest entries first.
    func all(_ body: ([JSON]) -> Void) async throws {
        var next: Int? = 0
        while let last = next {
            let page = try await page(last, ServerRecords.auditEntriesAtATime)
            body(page.entries)
            next = page.next
        }
    }
}

extension AuditPages {
    init(_ records: ServerRecords) {
        page = { after, limit in
            let page = try await records.auditPage(after: after, limit: limit)
            return (page.entries.map(\.json), page.next)
        }
        newest = { try await records.lastAuditEntry()?.number ?? 0 }
    }

    init(_ service: ServiceClient) {
        page = { after, limit in
            let page = try await service.look("/audit?after=\(after)&limit=\(limit)")
            return (page.items("entries"), page.number("next"))
        }
        newest = { try await service.look("/audit?last=1").items("entries").last?.number("number") ?? 0 }
    }
}

extension PlaceOptions {
    func auditing<Value: Sendable>(_ work: (AuditPages) async throws -> Value) async throws -> Value {
        try await asking {
            try await work(AuditPages(try folder.records()))
        } there: { service in
            try await work(AuditPages(service))
        }
    }

    func auditing<Value: Sendable>(
        here: (ServerRecords) async throws -> Value,
        there: (AuditPages) async throws -> Value
    ) async throws -> Value {
        try await asking {
            try await here(try folder.records())
        } there: { service in
            try await there(AuditPages(service))
        }
    }
}
