import HTTPFiles
import NIOHTTP1
import PatchFormat
import Testing

import PageTesting
@testable import AssetServer

@Suite("A page's call")
struct PageCallTests {
    private func server(_ host: SampleHost? = SampleHost()) throws -> AssetServer {
        let server = AssetServer.open()
        if let host { server.connect(host) }
        server.serve(try Releases.one())
        return server
    }

    @Test func `tells of the version that the page came from, the current one, and the one that waits`() async throws {
        let server = try server()
        server.events.notify(.checking)
        server.events.notify(.progress(40))
        let body = try #require(try await server.get("/__patchline/status").bytes)
        #expect(
            String(decoding: body.bytes, as: UTF8.self) == """
                {"app":"app","channel":"production","current":"2","lastSync":null,"onTrial":true,"pending":"3",\
                "running":"1","starts":"atReload","sync":{"percent":40,"phase":"running"}}
                """
        )
    }

    @Test func `gives the online parameters, under a tag that names them`() async throws {
        let host = SampleHost()
        let answer = try #require(try await server(host).get("/__patchline/parameters").bytes)
        #expect(
            String(decoding: answer.bytes, as: UTF8.self)
                == #"{"channel":"production","parameters":{"banner":"Sale","cart.limit":20}}"#
        )
        #expect(answer.status == .ok && answer.contentType == "application/json" && answer.cacheControl == "no-cache")
        #expect(answer.entityTag == host.parameters().tag)
        #expect(host.parameters().tag != PageParameters(channel: "beta", values: host.parameters().values).tag)
        let posted = try await server(host).get("/__patchline/parameters", method: .POST)
        #expect(posted.summary == "405")
    }

    @Test(arguments: [CheckStart.started, .alreadyRunning, .switchedOff])
    func `begins a check and does not wait for it`(start: CheckStart) async throws {
        let server = try server(SampleHost(start: start))
        let answer = try #require(try await server.get("/__patchline/check", method: .POST).bytes)
        #expect(answer.status == .accepted)
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "{\"result\":\"\(start.rawValue)\"}")
    }

    @Test func `is told to come back while the app behind it starts`() async throws {
        let answer = try #require(try await server(nil).get("/__patchline/status").bytes)
        #expect(answer.status == .serviceUnavailable)
    }

    @Test func `never stands in a cache`() async throws {
        for call in ["status", "report"] {
            #expect(try await server().get("/__patchline/\(call)").bytes?.cacheControl == "no-store", "\(call)")
        }
        #expect(try await server().get("/__patchline/events").headers["Cache-Control"] == ["no-store"])
    }
}

@Suite("A first launch")
struct FirstLaunchTests {
    private let server = AssetServer.open()

    @Test func `shows a page of its own to a window, which nobody takes for the app`() async throws {
        for fields in [("Sec-Fetch-Dest", "document"), ("Accept", "text/html")] {
            let page = try #require(try await server.get("/cart", fields).bytes)
            #expect(page.status == .serviceUnavailable && page.cacheControl == "no-store")
            #expect(page.contentType == "text/html; charset=utf-8")
            let text = String(decoding: page.bytes, as: UTF8.self)
            #expect(text.contains("<progress") && text.contains("Try again") && text.contains("Copy report"))
            #expect(text.utf8.count < 6_000)
        }
    }

    @Test func `asks for no other file, and runs nothing but what stands in it`() async throws {
        let page = try #require(try await server.get("/", ("Sec-Fetch-Dest", "document")).bytes)
        let text = String(decoding: page.bytes, as: UTF8.self)
        #expect(!text.contains("src=") && !text.contains("href=") && !text.contains("http"))
        let policy = try #require(page.headers.first(name: "Content-Security-Policy"))
        #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"))
        #expect(page.headers["Content-Security-Policy"].count == 1)
    }

    @Test func `answers all else in one line`() async throws {
        for target in ["/main.js", "/favicon.ico"] {
            guard case .refused(.serviceUnavailable, "Nothing is installed yet.", _) = try await server.get(target)
            else {
                Issue.record("\(target) is answered")
                return
            }
        }
    }
}
