import HTTPCore
import Testing

@testable import ReleaseClient

@Suite("What a service says of a request that it did not do")
struct ServiceProblemTests {
    private func problem(_ status: Int, _ body: String, retryAfter: String? = nil) -> ServiceProblem {
        ServiceProblem(status: status, body: Array(body.utf8), retryAfter: retryAfter)
    }

    @Test func `is read with its hint, its rule and the offset to go on from`() {
        let body =
            #"{"type":"urn:patchline:wrongOffset","title":"wrongOffset","status":409,"#
            + #""detail":"the next byte is 7","hint":"go on","rule":"Upload-Offset","offset":7}"#
        #expect(
            problem(409, body, retryAfter: "30")
                == ServiceProblem(
                    status: 409,
                    kind: "wrongOffset",
                    detail: "the next byte is 7",
                    hint: "go on",
                    rule: "Upload-Offset",
                    retryAfter: 30,
                    offset: 7
                )
        )
    }

    @Test(arguments: ["", "<html>", "{}", #"{"title":1,"detail":"x"}"#])
    func `by something else than the service is its status`(_ body: String) {
        let found = problem(502, body, retryAfter: "Wed, 21 Oct 2026 07:28:00 GMT")
        #expect(found == ServiceProblem(status: 502, kind: "http", detail: "the server answered 502"))
    }

    @Test(arguments: [("0", "0"), ("2147483648", "31536000"), ("9223372036854775807", "31536000")])
    func `asks for no longer time than settings allow between two syncs`(_ field: String, _ seconds: String) {
        #expect(problem(503, "", retryAfter: field).retryAfter.map { "\($0)" } == seconds)
        #expect(problem(503, "", retryAfter: "-\(field)").retryAfter == nil)
    }

    @Test func `passes where waiting may help, and nowhere else`() {
        let passing = [408, 409, 425, 429, 502, 503, 504].filter { problem($0, "").isPassing }
        #expect(passing == [408, 425, 429, 502, 503, 504])
        #expect(ServiceProblem(status: 409, kind: "conflict", detail: "", rule: "one sender").isPassing)
        #expect(!ServiceProblem(status: 503, kind: "keyLocked", detail: "").isPassing)
    }
}
