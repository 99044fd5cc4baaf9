import PatchFormat
import PatchTesting
import Testing

@Suite("An express answer")
struct ExpressTests {
    private static let production = { () -> ChannelName in
        guard let name = ChannelName("production") else { preconditionFailure("this is a name") }
        return name
    }()
    private static let digest = String(repeating: "ab", count: 32)

    private static func answer(_ lines: String...) -> [UInt8] {
        Array((["patchline-express-v1", "1"] + lines).map { "\($0)\n" }.joined().utf8)
    }

    private func refusal(_ bytes: [UInt8]) -> String? {
        do throws(FormatError) {
            _ = try Express(bytes, of: Self.production)
            return nil
        } catch { return error.description }
    }

    @Test func `holds the files of the vectors byte for byte, and is written again as it was`() throws {
        let bytes = try Vectors.bytes("express/production")
        let express = try Express(bytes, of: Self.production)
        #expect(express.fileBytes == bytes && express.newestRoot == 1)
        let sources = [
            "tuf/timestamp.json", "tuf/7.snapshot.json", "tuf/1.targets.json", "tuf/2.production.json",
            "patch-list/patchlist.json", "tuf/12.dial.json", "dial/dial.json",
        ]
        #expect(try express.parts.map(\.bytes) == sources.map { try Vectors.bytes($0) })
        #expect(
            express.parts.map(\.file.path).filter { $0.hasPrefix("metadata/") } == [
                "metadata/timestamp.json", "metadata/7.snapshot.json", "metadata/1.targets.json",
                "metadata/2.production.json", "metadata/12.dial.json",
            ]
        )
    }

    @Test func `is refused wherever it is cut off`() throws {
        let bytes = try Vectors.bytes("express/production")
        let whole = try Express(bytes, of: Self.production)
        var (end, ends) = (Express(of: Self.production, newestRoot: 1, parts: []).fileBytes.count, Set<Int>())
        ends.insert(end)
        for part in whole.parts {
            end += Express(of: Self.production, newestRoot: 1, parts: [part]).fileBytes.count - 23
            ends.insert(end)
        }
        #expect(end == bytes.count)
        // Between two files it is a shorter answer.
        for count in 0..<bytes.count where !ends.contains(count) {
            #expect(refusal(Array(bytes.prefix(count))) != nil, "\(count)")
        }
    }

    @Test(arguments: [
        "metadata/1.beta.json", "metadata/timestamp.json.zst", "metadata/01.root.json", "metadata/0.root.json",
        "metadata/root.json", "metadata/express/production", "metadata/1.mirrors.json", "/metadata/timestamp.json",
        "../metadata/timestamp.json", "other/metadata/timestamp.json", "metadata/../metadata/timestamp.json",
        "targets/beta/\(digest).patchlist.json", "targets/dial/\(digest).beta.json",
        "targets/production/patchlist.json",
        "targets/production/\(digest.uppercased()).patchlist.json", "targets/dial/\(digest).production.sigs",
        "targets/production/web/1.0.0/\(digest).manifest.json", "objects/ab/\(digest)", "",
        "metadata/99999999999999999.root.json",
    ])
    func `is refused with any file that is not of its channel's metadata`(_ path: String) {
        #expect(
            refusal(Self.answer("\(path) 1", "x"))
                == "express must contain only metadata files of production, each after its path and length"
        )
    }

    @Test(arguments: [
        ("metadata/timestamp.json", 16_384), ("metadata/2.root.json", 512_000), ("metadata/7.snapshot.json", 2_000_000),
        ("metadata/1.targets.json", 5_000_000), ("metadata/3.production.json", 5_000_000),
        ("metadata/12.dial.json", 5_000_000), ("targets/production/\(digest).patchlist.json", 16_000_000),
        ("targets/dial/\(digest).production.json", 1_000_000),
        ("targets/dial/\(digest).production.parameters.json", 65_536),
    ])
    func `holds no file above the limit that it has by itself`(_ path: String, limit: Int) {
        let rule = "express: \(path) must have at most \(limit) bytes"
        #expect(refusal(Self.answer("\(path) \(limit + 1)", "x")) == rule)
        #expect(
            refusal(Self.answer("\(path) \(limit)", "x"))
                == "express: \(path) must have its length, and end with a newline"
        )
    }

    @Test func `is refused with a file twice, odd numbers, another version, and more bytes than it may have`() {
        #expect(refusal(Array("patchline-express-v1".utf8)) == "express must have a newline after each line")
        let twice = Self.answer("metadata/timestamp.json 1", "x", "metadata/timestamp.json 1", "x")
        #expect(refusal(twice) == "express: metadata/timestamp.json must occur once")
        for length in ["01", "+1", "-1", "1.0", "", "99999999999999999999"] {
            #expect(
                refusal(Self.answer("metadata/timestamp.json \(length)", "x"))
                    == "express: metadata/timestamp.json must have at most 16384 bytes",
                "\(length)"
            )
        }
        #expect(refusal(Array("patchline-express-v2\n1\n".utf8)) == "express must begin with patchline-express-v1")
        for root in ["0", "01", "-1", "x", ""] {
            #expect(
                refusal(Array("patchline-express-v1\n\(root)\n".utf8))
                    == "express must name the newest root's version in its second line"
            )
        }
        #expect(
            refusal([UInt8](repeating: 0x20, count: Limits.express + 1)) == "express must have at most 16777216 bytes"
        )
        #expect(refusal(Array("patchline-express-v1\n1\n".utf8)) == nil)
    }

    @Test func `leaves out what a device names, and ignores a query of any other kind`() throws {
        let digest = try #require(SHA256Digest(hex: Self.digest))
        let files: [Express.File] = [
            .root(version: 3), .timestamp, .role("snapshot", version: 12), .target(.patchList(Self.production), digest),
        ]
        let known = Express.Known(files)
        #expect(known.query == "have=3.root,12.snapshot,abababababababab")
        #expect(Express.Known(query: known.query) == known && known.root == 3)
        #expect(files.map(known.has) == [true, false, true, true])
        #expect(!known.has(.role("snapshot", version: 13)) && !known.has(.role("targets", version: 12)))
        for query in [nil, "", "have", "3.root", "x=1", "have=" + String(repeating: "3.root,", count: 200)] {
            #expect(Express.Known(query: query) == Express.Known())
        }
        #expect(Express.Known().query == nil && Express.Known(query: "have=x.root,-1.root").root == nil)
    }

    @Test func `is asked for as a difference by a word behind the names`() throws {
        let files: [Express.File] = [.root(version: 3), .role("snapshot", version: 12)]
        let known = Express.Known(files, takesDifference: true)
        #expect(known.query == "have=3.root,12.snapshot,diff" && known.root == 3 && known.version(of: "snapshot") == 12)
        #expect(Express.Known(query: known.query) == known && files.allSatisfy(known.has))
        #expect(Express.Known([], takesDifference: true).query == nil)
        for query in ["have=diff,3.root", "have=3.root,diff,12.snapshot", "have=3.root,Diff", "have=3.root,diff2"] {
            #expect(!Express.Known(query: query).takesDifference)
        }
        #expect(known.named(among: files + [.role("targets", version: 1)]) == files)
        #expect(known.named(among: files.reversed()) == nil && known.named(among: [.root(version: 3)]) == nil)
        let twice = Express.Known(query: "have=3.root,3.root,12.snapshot,13.snapshot")
        #expect(twice.named(among: files) == nil && twice.version(of: "snapshot") == nil)
        for name in ["0.dial", "-1.dial", "x.dial", "99999999999999999.dial"] {
            #expect(Express.Known(query: "have=\(name)").version(of: "dial") == nil)
        }
    }
}
