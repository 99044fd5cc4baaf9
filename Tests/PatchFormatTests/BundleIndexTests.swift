import PatchFormat
import PatchTesting
import Testing

@Suite("The index of a bundle")
struct BundleIndexTests {
    private static let digest = Fingerprint.sample(7).sha256

    private static func manifest(routes: Bool = true) throws -> AssetManifest {
        var json = try Vectors.json("manifest/manifest.json").object ?? JSONObject()
        if !routes { json["routes"] = nil }
        return try AssetManifest(JSON.object(json).fileBytes)
    }

    @Test func `says of each file what the manifest says`() throws {
        let manifest = try Self.manifest()
        let index = try #require(BundleIndex(manifest, manifest: Self.digest))
        #expect(index.count == manifest.assets.count)
        for (number, asset) in manifest.assets.enumerated() {
            let row = try #require(index[number])
            #expect(row.path == asset.path.text && index.path(of: number) == asset.path.text)
            #expect(row.sha256 == asset.fingerprint.sha256 && index.sha256(of: number) == row.sha256)
            #expect(row.size == asset.fingerprint.size)
            #expect(row.cacheable == asset.cacheable)
            #expect(row.coding == asset.coding)
            #expect(index.sourceMap(of: number) == asset.sourceMap.flatMap { manifest[$0]?.url })
        }
        #expect(index.index?.path == manifest.index.text)
        #expect(index.routes == manifest.routes)
        #expect(index.routing == nil && index.headers.isEmpty)
        #expect(BundleIndex(try Self.manifest(routes: false), manifest: Self.digest)?.routes == nil)
    }

    @Test func `says how files are served`() throws {
        var json = try Vectors.json("manifest/manifest.json").object ?? JSONObject()
        json["routing"] = .text("site")
        json["headers"] = try JSON(
            parsing: Array(
                #"[{"path":"**","fields":{"Referrer-Policy":"same-origin","X-Later":"1"}},{"path":"a/*","fields":{"Link":"<a>"}}]"#
                    .utf8
            )
        )
        guard case .array(var rows) = json["assets"], var row = rows[0].object else { return }
        row["coding"] = .text("gzip")
        rows[0] = .object(row)
        json["assets"] = .array(rows)
        let manifest = try AssetManifest(JSON.object(json).fileBytes)
        let index = try #require(BundleIndex(manifest, manifest: Self.digest))
        #expect(index.routing == .site)
        #expect(index[0]?.coding == .gzip && index[1]?.coding == nil)
        #expect(index.headers.map(\.pattern.text) == ["**", "a/*"])
        #expect(index.headers.flatMap(\.fields).map(\.name) == ["Referrer-Policy", "Link"])
        #expect(index.headers.flatMap(\.fields).map(\.value) == ["same-origin", "<a>"])
    }

    @Test func `finds a file under its decoded URL, and nothing under another`() throws {
        let manifest = try Self.manifest()
        let index = try #require(BundleIndex(manifest, manifest: Self.digest))
        for asset in manifest.assets where !asset.url.contains("%") {
            #expect(index.row(at: asset.url)?.path == asset.path.text)
        }
        #expect(index.row(at: "/images/caf\u{E9} 1.svg")?.path == "images/caf\u{E9} 1.svg")
        for url in ["/images/caf%C3%A9%201.svg", "/images/cafe\u{301} 1.svg", "/", "", "/app", "/zzz"] {
            #expect(index.row(at: url) == nil, "\(url)")
        }
    }

    @Test func `answers whatever a damaged disk made of its bytes`() throws {
        let whole = try #require(BundleIndex(try Self.manifest(), manifest: Self.digest)).bytes
        for place in whole.indices {
            for byte in [0x00, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = whole
                bytes[place] = byte
                guard let index = BundleIndex(bytes, of: Self.digest) else { continue }
                _ = (index.index, index.routes, index.row(at: "/app/main.js"))
                for row in 0..<index.count { _ = (index[row], index.sourceMap(of: row)) }
            }
        }
    }

    @Test func `is read as it was written, for its manifest alone`() throws {
        let index = try #require(BundleIndex(try Self.manifest(), manifest: Self.digest))
        #expect(BundleIndex(index.bytes, of: Self.digest)?.bytes == index.bytes)
        #expect(BundleIndex(index.bytes, of: Fingerprint.sample(8).sha256) == nil)
    }

    @Test func `is none when it is cut off before its texts, or of another version`() throws {
        let index = try #require(BundleIndex(try Self.manifest(), manifest: Self.digest))
        for count in [0, 18, 19, 74, 75, 100, 75 + 5 * 68] {
            #expect(BundleIndex(Array(index.bytes.prefix(count)), of: Self.digest) == nil, "\(count) bytes")
        }
        let other = Array("patchline-index-v1\n".utf8) + index.bytes.dropFirst(19)
        #expect(BundleIndex(other, of: Self.digest) == nil)
    }
}
