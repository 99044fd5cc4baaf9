import FoundationEssentials
import SystemPackage
import Testing

@Suite("What patchsrv serves")
struct ServedBySendfileTests {
    /// Serves one more object, of `size` bytes, and fetches it.
    ///
    /// - Returns: the system calls of the server that `strace` saw, in which the kernel itself moves a file's bytes.
    private func calls(servingBytes size: Int) async throws -> String {
        let (ended, trace) = AsyncStream.makeStream(of: String.self)
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let digest = "ab" + String(repeating: "0", count: 62)
            let folder = site.appending("tree/\(Workshop.app)/objects/ab")
            try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
            let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try bytes.write(to: URL(filePath: folder.appending(digest).string))
            let (calls, got) = (world.path("calls"), world.path("got"))
            // -D: the signals of the test are the server's.
            let strace = ["-D", "-f", "-qq", "-e", "trace=sendfile", "-o", calls.string]
            let serve = ["serve", "--data", site.string] + anyPorts
            let patchsrv = Tool.binaries.appending("patchsrv").string
            _ = try await running(.system("strace"), strace + [patchsrv] + serve) { server in
                let url = try await server.line(with: "listening on").split(separator: " ").last ?? ""
                let object = "\(url)/\(Workshop.app)/objects/ab/\(digest)"
                try await run(.system("curl"), ["-sSf", "-o", got.string, object]).done()
            }
            #expect(try Data(contentsOf: URL(filePath: got.string)) == bytes)
            trace.yield(try String(contentsOfFile: calls.string, encoding: .utf8))
        }
        trace.finish()
        return try #require(await ended.first { _ in true })
    }

    @Test func `goes by sendfile when it is large, as strace shows`() async throws {
        let calls = try await calls(servingBytes: 3_000_000)
        let counts = calls.matches(of: #/sendfile\(\d+, \d+, .*\) = (\d+)/#).compactMap { Int($0.1) }
        #expect(counts.reduce(0, +) == 3_000_000, "\(calls)")
    }

    @Test func `goes from memory when it is small`() async throws {
        #expect(try await calls(servingBytes: 1000).contains("sendfile") == false)
    }
}
