import PatchTesting
import SystemPackage
import Testing

/// Static hosts that invent fields of their answers, each with one habit: Judges/odd.py.
@Suite("An odd host")
struct OddHostTests {
    /// Every byte of the tree can be had, by undoing the announced codings or as it is.
    private static let harmless = [
        "honest", "coding-empty", "coding-aws-chunked", "coding-utf8", "coding-none", "coding-binary",
        "coding-identity",
        "coding-type", "label-gzip", "label-zstd", "label-br", "label-twice", "packs-always", "packs-twice",
        "packs-x-gzip",
        "tag-unquoted", "tag-empty", "tag-40", "tag-64", "tag-weak", "tag-multipart", "tag-long", "type-html",
        "type-odd",
        "type-absent", "date-1970", "date-none", "cache", "fields-many", "cookie", "disposition", "redirect",
        "redirect-relative", "status-203", "status-206", "length-absent", "chunked", "missing-403",
        "missing-page",
    ]

    /// The bytes cannot be had, or not told from another host's: the beginning of the error.
    private static let refused = [
        ("packs-br-always", "timestamp is not UTF-8"),
        ("redirect-loop", "metadata/timestamp.json: the server redirects to /redirect-loop/"),
        ("status-204", "metadata/timestamp.json: the server answered 204"),
        ("page", "metadata/timestamp.json: the server sent a web page in its place"),
        ("length-larger", "metadata/3.snapshot.json: larger than the allowed 1152 bytes"),
        ("length-chunked", "metadata/timestamp.json"),
    ]

    private func withHost(_ body: @escaping @Sendable (World, _ url: String) async throws -> Void) async throws {
        try await World.with { world in
            _ = try await running(.python, [Tool.script("odd.py"), world.shop.site2.appending("tree").string]) { host in
                try await body(world, try await host.address())
            }
        }
    }

    @Test func `updates every device whose bytes can be had, whatever its fields say`() async throws {
        try await withHost { world, url in
            for habit in Self.harmless {
                let device = try await world.settledDevice(server: "\(url)/\(habit)", as: habit)
                let sync = try await device.sync()
                #expect(sync.code == 0, "\(habit): \(sync)")
                try await device.expectWhole(2)
            }
        }
    }

    @Test func `that has other bytes is named in one sentence, and what is installed runs on`() async throws {
        try await withHost { world, url in
            for (habit, error) in Self.refused {
                let device = try await world.settledDevice(server: "\(url)/\(habit)", as: habit)
                let sync = try await device.sync()
                #expect(sync.code != 0 && sync.errors.hasPrefix("error: \(error)"), "\(habit): \(sync)")
                try await device.expectWhole(1)
            }
            for habit in ["bom", "garbage-behind", "length-smaller"] {
                let device = try await world.settledDevice(server: "\(url)/\(habit)", as: habit)
                let sync = try await device.sync()
                #expect(sync.code != 0, "\(habit): \(sync)")
                try await device.expectWhole(1)
            }
        }
    }
}
