import HTTPFiles
import Testing

@Suite("A request's method", .timeLimit(.minutes(10)))
struct MethodTests {
    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"])
    func `is not allowed unless it reads`(method: String) async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                try await client.send(request(method, "/") + request("GET", "/"))
                let refusal = try await client.response()
                #expect(refusal.status == 405)
                #expect(refusal["Allow"] == "GET, HEAD" && refusal.text == "Method not allowed.\n")
                #expect(try await client.response().text == "0123456789")
            }
        }
    }

    @Test(arguments: ["BREW", "get", "PROPFIND", "M-SEARCH"])
    func `is unknown when HTTP does not define it`(method: String) async throws {
        #expect(try await TestServer.running(.digits) { try await $0.get("/", method: method) }.status == 501)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
    func `reaches a source that accepts bodies`(method: String) async throws {
        try await TestServer.running(.echo) { server in
            try await server.connected { client in
                try await client.send(request(method, "/a?b", ["Content-Length: 5"]) + "hello")
                #expect(try await client.response().text == "\(method) /a?b hello")
            }
        }
    }

    @Test(arguments: ["CONNECT", "TRACE"])
    func `that is about the connection reaches no source`(method: String) async throws {
        let response = try await TestServer.running(.echo) { try await $0.get("/", method: method) }
        #expect(response.status == 405)
        #expect(response["Allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
    }

    @Test func `that is refused with a body ends the connection, so that no body is read as a request`() async throws {
        try await TestServer.running(.digits) { server in
            try await server.connected { client in
                let smuggled = request("GET", "/smuggled")
                try await client.send(request("POST", "/", ["Content-Length: \(smuggled.utf8.count)"]) + smuggled)
                let refusal = try await client.response()
                #expect(refusal.status == 405)
                #expect(refusal["Connection"] == "close")
                #expect(await client.rest() == [])
            }
        }
    }
}
