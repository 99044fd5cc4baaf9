import FoundationEssentials
import PatchCompression
import PatchDelta
import PatchFormat
import PatchCrypto
import Testing

@Suite("An express answer as a difference")
struct ExpressDifferenceTests {
    private static let production = { () -> ChannelName in
        guard let name = ChannelName("production") else { preconditionFailure("this is a name") }
        return name
    }()

    /// A role with a signature, a target with one in base64, and the digests that lead from the one to the other.
    private struct Sample {
        let parts: [Express.Part]
        var express: Express { Express(of: production, newestRoot: 3, parts: parts) }

        init(_ version: Int) {
            let noise = (0..<12).flatMap { SHA256Digest(of: Array("\(version).\($0)".utf8)).hex.utf8 }
            let hex = String(decoding: noise, as: UTF8.self)
            let base64 = Base64.text(Hex.bytes(hex) ?? [])
            let list = Array(#"{"sig":"\#(base64)","md5":"\#(hex.prefix(32))","short":"\#(hex.prefix(31))"}"#.utf8)
            let digest = SHA256Digest(of: list)
            let role = Array(#"{"sig":"\#(hex)","sha256":"\#(digest)","odd":"\#(hex.suffix(65))"}"#.utf8)
            let snapshot = Array(#"{"sig":"\#(hex)","sha256":"\#(SHA256Digest(of: role))"}"#.utf8)
            parts = [
                Express.Part(.role("snapshot", version: version), snapshot),
                Express.Part(.role("production", version: version), role),
                Express.Part(.target(.patchList(production), digest), list),
            ]
        }
    }

    private func refusal(_ body: [UInt8], from base: [Express.Part] = Sample(1).parts, limit: Int = Limits.express)
        -> String?
    {
        do throws(FormatError) {
            _ = try ExpressDifference.plain(body, from: base, limit: limit)
            return nil
        } catch { return error.description }
    }

    /// A body with such a content, made against the text of one file.
    private func refusal(of content: [UInt8], limit: Int = Limits.express) throws -> String? {
        let base = [Express.Part(.role("snapshot", version: 1), Array("base".utf8))]
        let prefix = Array("base".utf8) + [0] + Array("metadata/1.snapshot.json\n".utf8)
        return refusal(
            try ZstandardPatch.frame(of: content, prefix: prefix, level: 3, isChecked: true),
            from: base,
            limit: limit
        )
    }

    @Test func `is made of no file that holds what stands for digests`() throws {
        let odd = [Express.Part(.role("snapshot", version: 1), [UInt8(ascii: "{"), 1, UInt8(ascii: "}")])]
        #expect(ExpressDifference.body(of: Sample(2).express, from: odd) == nil)
        let rule = "express must be a difference to the named files: its text cannot represent these files"
        #expect(refusal([0x28, 0xB5, 0x2F, 0xFD], from: odd) == rule)
    }

    @Test func `is the plain answer again, and hardly more than what cannot repeat`() throws {
        let (old, new) = (Sample(1), Sample(2))
        let body = try #require(ExpressDifference.body(of: new.express, from: old.parts))
        #expect(ExpressDifference.isDifference(body) && !ExpressDifference.isDifference(new.express.fileBytes))
        #expect(try ExpressDifference.plain(body, from: old.parts) == new.express.fileBytes)
        // Its noise has 12 × 32 bytes, and each file has all of it.
        let plain = try CompressionFormat.zstandard.compressed(new.express.fileBytes)
        #expect(body.count < 384 + 150 && plain.count > 384 * 2, "\(body.count), \(plain.count)")
        let nothing = Express(of: Self.production, newestRoot: 1, parts: [])
        let empty = try #require(ExpressDifference.body(of: nothing, from: old.parts))
        #expect(try ExpressDifference.plain(empty, from: old.parts) == nothing.fileBytes)
    }

    @Test func `is written as the page says`() throws {
        let hex = String(repeating: "0123456789abcdef", count: 4)
        let target = Express.File.target(.dial(Self.production), SHA256Digest(of: Array("x".utf8)))
        let base = Express.Part(.role("snapshot", version: 1), Array("base".utf8))
        let role = "\(hex.prefix(31)) \(hex.prefix(33)) \(hex)00 \(SHA256Digest(of: Array("x".utf8))) "
        let text = Base64.text([UInt8](repeating: 0x69, count: 98))
        let express = Express(
            of: Self.production,
            newestRoot: 12,
            parts: [
                Express.Part(.role("dial", version: 7), Array(role.utf8)),
                Express.Part(.role("snapshot", version: 7), Array("-\(text)".utf8)),
                Express.Part(target, [UInt8(ascii: "x")]),
            ]
        )
        let body = try #require(ExpressDifference.body(of: express, from: [base]))
        let digits: [UInt8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]
        var expected =
            Array("12\nx".utf8) + [0] + Array("targets/dial/".utf8) + [3, 0] + Array(".production.json\n".utf8)
        expected += Array("-".utf8) + [2, 0, 96] + [UInt8](repeating: 0x69, count: 96) + Array("aWk=".utf8) + [0]
        expected += Array("metadata/7.snapshot.json\n\(hex.prefix(31)) ".utf8)
        expected += [1, 0, 16] + digits + digits + Array("0 ".utf8)
        expected +=
            [1, 0, 33] + digits + digits + digits + digits + [0] + Array(" ".utf8) + [3, 0] + Array(" ".utf8) + [0]
        expected += Array("metadata/7.dial.json\n".utf8)
        let prefix = Array("base".utf8) + [0] + Array("metadata/1.snapshot.json\n".utf8)
        #expect(try ZstandardPatch.content(of: body, prefix: prefix, limit: 4_096) == expected)
        #expect(try ExpressDifference.plain(body, from: [base]) == express.fileBytes)
    }

    @Test func `is not made of nothing, too much, too many files, or bytes that mean something in it`() {
        let (old, new) = (Sample(1), Sample(2))
        func part(_ bytes: [UInt8]) -> Express.Part { Express.Part(.role("snapshot", version: 9), bytes) }
        let roots = (1...255).map { Express.Part(.root(version: $0), [0x78]) }
        #expect(ExpressDifference.body(of: new.express, from: []) == nil)
        #expect(!ExpressDifference.isPossible(from: []) && ExpressDifference.isPossible(from: roots))
        for parts in [[part([0x78, 3])], [part([0])], roots + [part([0x78])]] {
            #expect(!ExpressDifference.isPossible(from: parts))
            #expect(ExpressDifference.body(of: new.express, from: parts) == nil)
            let express = Express(of: Self.production, newestRoot: 1, parts: parts)
            #expect(ExpressDifference.body(of: express, from: old.parts) == nil)
        }
        let size = 3 + new.parts.count * 2 + (old.parts + new.parts).reduce(0) { $0 + $1.bytes.count }
        #expect(ExpressDifference.body(of: new.express, from: old.parts, limit: size) != nil)
        #expect(ExpressDifference.body(of: new.express, from: old.parts, limit: 1_000) == nil)
    }

    @Test func `is refused against other files and cut off, and never becomes another answer`() throws {
        let (old, new) = (Sample(1), Sample(2))
        let body = try #require(ExpressDifference.body(of: new.express, from: old.parts))
        let start = "express must be a difference to the named files: "
        #expect(refusal(body, from: [])?.hasPrefix(start) == true)
        // Files that are alike may do where only what they share is taken from them.
        for base in [new.parts, old.parts.reversed(), Array(old.parts.prefix(1)), [old.parts[1]]] {
            let plain = try? ExpressDifference.plain(body, from: base)
            #expect(plain == nil || plain == new.express.fileBytes)
        }
        for count in 0..<body.count { #expect(refusal(Array(body.prefix(count))) != nil, "\(count)") }
        #expect(refusal(body + [0]) != nil)
        // A frame has a few bits without a meaning.
        var refused = 0
        for place in body.indices {
            var changed = body
            changed[place] ^= 0x10
            guard let plain = try? ExpressDifference.plain(changed, from: old.parts) else {
                refused += 1
                continue
            }
            #expect(plain == new.express.fileBytes, "\(place)")
        }
        #expect(refused > body.count - 8)
    }

    @Test func `gives out no more than a plain answer may have, and nothing is made of what names more`() throws {
        let start = "express must be a difference to the named files: "
        // A frame that names 16 MiB and a byte, and has no block.
        let large: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xA4, 0x01, 0, 0, 1]
        #expect(refusal(large) == "\(start)the zstd stream expands to more than 16777216 bytes")
        // 300 numbers of a file, each of which stands for 64 bytes, in a path.
        let path: [UInt8] = [0x31, 10, 0] + (0..<5).flatMap { _ in [UInt8(3), 0] } + [10]
        #expect(try refusal(of: path) == "\(start)its text is too long")
        let bomb: [UInt8] = [0x31, 10, 1, 0x10, 0] + [UInt8](repeating: 0, count: 4_096) + [0, 0x61, 10]
        #expect(try refusal(of: bomb, limit: 8_193) == nil)
        #expect(try refusal(of: bomb, limit: 8_192) == "\(start)its text is too long")
    }

    @Test(
        arguments: [
            ([0x31], "has no root version in its first line"),
            ([0x31, 10, 0x61], "ends within a file"),
            ([0x31, 10, 0x61, 0, 0x62], "ends within a file"),
            ([0x31, 10, 0x61, 0, 0x62, 0, 10], "has an unfinished path"),
            ([0x31, 10, 1], "ends within a file"), ([0x31, 10, 1, 0, 2, 0xFF], "ends within a file"),
            ([0x31, 10, 2, 0, 2, 0, 0, 0, 10], "has base64 with an incomplete group"),
            ([0x31, 10, 3, 0, 0, 10], "names a file that does not precede it"),
            ([0x31, 10, 0x61, 0, 3, 1, 10], "names a file that does not precede it"),
            ([0x31, 10, 3], "names a file that does not precede it"),
            ([0x31, 10] + [UInt8]((0..<256).flatMap { _ in [UInt8(0), 10] }), "has more than 255 files"),
        ] as [([UInt8], String)]
    )
    func `is refused with a text that breaks a rule`(_ content: [UInt8], rule: String) throws {
        #expect(try refusal(of: content) == "express must be a difference to the named files: its text \(rule)")
    }
}
