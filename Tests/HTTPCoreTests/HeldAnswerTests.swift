import APIProxy
import NIOHTTP1
import PatchFetch
import PatchFormat
import Testing

@testable import ReleaseClient

@Suite("An answer that holds its client", .timeLimit(.minutes(10)))
struct HeldAnswerTests {
    @Test func `is given up by the release client at its deadline, also when it fell silent in its body`() async throws
    {
        for text in ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200"] {
            try await AnsweringServer.running({ _ in Script(text) }) { port in
                var settings = ServiceClient.Settings()
                settings.retries = 0
                let server = try #require(ServerURL("http://127.0.0.1:\(port)"))
                let error = await #expect(throws: ServiceError.self) {
                    try await ServiceClient.with(server, token: nil, settings) { client throws(ServiceError) in
                        var request = ServiceRequest(method: .GET, path: "/x")
                        request.deadline = .milliseconds(100)
                        return try await client.bytes(request)
                    }
                }
                #expect(error == .timedOut("/x"), "\(text)")
            }
        }
    }

    @Test(arguments: ["Upgrade: other\r\nConnection: Upgrade\r\n", "Connection: Upgrade\r\n", ""])
    func `to a WebSocket's handshake keeps no connection open when it switches to another protocol`(
        fields: String
    ) async throws {
        let (closes, close) = AsyncStream.makeStream(of: Void.self)
        let script = Script("HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\n")
        try await AnsweringServer.running(whenClosed: { close.yield() }, { _ in script }) { port in
            let rules = ProxyRules([try ProxyRule(argument: "/.*=http://127.0.0.1:\(port)")])
            let settings = APIProxy.Settings(rules: rules, trust: TLSTrust())
            try await APIProxy.with(settings) { proxy in
                try await ServedProxy.running(proxy) { served in
                    guard case .refused("502") = try await served.upgrade("/x") else {
                        Issue.record("that is no WebSocket")
                        return
                    }
                    _ = await closes.first { _ in true }
                }
            }
        }
    }
}
