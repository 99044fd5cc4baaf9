import HTTPFiles
import NIOHTTP1
import PatchFetch
import Testing

@testable import ReleaseClient

@Suite("A release service behind a captive portal", .timeLimit(.minutes(10)))
struct InterceptedServiceTests {
    @Test(
        arguments: [
            (
                HTTPResponseStatus.found, HTTPHeaders([("Location", "http://login.hotel.test/")]),
                Interception.redirect(to: "http://login.hotel.test/")
            ),
            (.networkAuthenticationRequired, HTTPHeaders(), .status(511)),
            (.proxyAuthenticationRequired, HTTPHeaders(), .status(407)),
            (.ok, HTTPHeaders(), .page),
        ] as [(HTTPResponseStatus, HTTPHeaders, Interception)]
    )
    func `is told as that, and is not tried again`(
        status: HTTPResponseStatus,
        fields: HTTPHeaders,
        sign: Interception
    ) async throws {
        let page = ServedBytes(status: status, bytes: Array("<html>".utf8), contentType: "text/html", headers: fields)
        let error = await #expect(throws: ServiceError.self) {
            try await Portal(page: page).asked { client throws(ServiceError) in _ = try await client.json(.apps) }
        }
        #expect(error == .intercepted(sign))
    }

    @Test func `that moved on its own host is told as that`() async throws {
        let page = ServedBytes(status: .found, bytes: [], contentType: "text/html", headers: ["Location": "/elsewhere"])
        let error = await #expect(throws: ServiceError.self) {
            try await Portal(page: page).asked { client throws(ServiceError) in _ = try await client.json(.apps) }
        }
        #expect(error == .redirected(to: "/elsewhere"))
    }
}

/// Answers everything with its page.
private struct Portal: FileSource {
    let page: ServedBytes

    func decide(_ request: FileRequest) -> FileDecision { .later(.whole) { [page] _ in .bytes(page) } }
}
