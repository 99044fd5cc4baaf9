import SystemPackage
import Testing

/// What a device asks again and again, and what comes down for it, headers counted.
@Suite("A poll")
struct PollTests {
    @Test func `with nothing new asks twice, and 1,200 bytes come down at most`() async throws {
        try await World.with { world in
            let log = world.path("access.log")
            try await serving(world.shop.site1, ["--access-log", log.string]) { url in
                let device = try await world.settledDevice(server: url)
                try await device.sync().done()
                let lines = try read(log).split(separator: "\n").count
                try await device.sync().done()
                let requests = try await eventually("two lines more") {
                    let new = try read(log).split(separator: "\n").dropFirst(lines)
                    return new.count >= 2 ? new.map(String.init) : nil
                }
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

    /// Bytes of the same two answers, head and body.
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
