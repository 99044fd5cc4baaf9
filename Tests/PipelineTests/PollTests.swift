import SystemPackage
import Testing

/// What a device asks again and again, and what comes down for it, headers counted.
@Suite("A poll")
struct PollTests {
    @Test func `with nothing new asks once, and 400 bytes come down at most; file by file twice, and 1,200 bytes`()
        async throws
    {
        try await World.with { world in
            let log = world.path("access.log")
            try await serving(world.shop.site1, ["--access-log", log.string]) { url in
                let device = try await world.settledDevice(server: url)
                try await device.sync().done()
                func lines() throws -> [String] { try read(log).split(separator: "\n").map(String.init) }
                func requests(_ count: Int) async throws -> [String] {
                    let before = try lines().count
                    try await device.sync().done()
                    return try await eventually("\(count) lines more") {
                        let new = try lines().dropFirst(before)
                        return new.count >= count ? Array(new) : nil
                    }
                }
                let once = try await requests(1)
                #expect(once.count == 1, "\(once)")
                let express = #/"GET (/com.example.pipeline/metadata/express/production\?have=[^ ]*)" 304 0 /#
                let target = try #require(once.first?.firstMatch(of: express)?.1, "\(once)")
                #expect(try await received(url + String(target), "Accept-Encoding: zstd, gzip") <= 400)

                try await device("set", "--no-express").done()
                let requests = try await requests(2)
                #expect(requests.count == 2, "\(requests)")
                #expect(requests[0].contains(#""GET /com.example.pipeline/metadata/2.root.json" 404 "#), "\(requests)")
                #expect(
                    requests[1].contains(#""GET /com.example.pipeline/metadata/timestamp.json" 304 0 "#),
                    "\(requests)"
                )
                #expect(try await received(from: url) <= 1_200)
            }
        }
    }

    /// Bytes of the answer that nothing is new, head and body.
    private func received(_ target: String, _ field: String) async throws -> Int {
        let tag = try await run(
            .system("curl"),
            ["-sS", "-o", "/dev/null", "-H", field, "-w", "%header{etag}", target]
        ).done()
        let answer = try await run(
            .system("curl"),
            [
                "-sS", "-o", "/dev/null", "-H", field, "-H", "If-None-Match: \(tag.output)", "-w",
                "%{http_code} %{size_header} %{size_download}", target,
            ]
        ).done()
        let numbers = answer.output.split(separator: " ").compactMap { Int($0) }
        #expect(numbers.first == 304, "\(answer)")
        return numbers.dropFirst().reduce(0, +)
    }

    /// Bytes of the two answers, head and body.
    private func received(from url: String) async throws -> Int {
        let app = "\(url)/\(Workshop.app)/metadata"
        let tag = try await run(
            .system("curl"),
            ["-sS", "-o", "/dev/null", "-w", "%header{etag}", "\(app)/timestamp.json"]
        ).done()
        let answers = try await run(
            .system("curl"),
            [
                "-sS", "-o", "/dev/null", "-o", "/dev/null", "-H", "If-None-Match: \(tag.output)", "-w",
                "%{http_code} %{size_header} %{size_download}\n", "\(app)/2.root.json", "\(app)/timestamp.json",
            ]
        ).done()
        let numbers = answers.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
        #expect(numbers.map { $0.first } == [404, 304], "\(answers)")
        return numbers.flatMap { $0.dropFirst() }.reduce(0, +)
    }
}
