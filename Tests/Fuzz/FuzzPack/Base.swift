import PatchDelta
import PatchFormat
import PatchCrypto
import PatchTrust

/// A version that packs are applied to.
struct Base: Sendable {
    /// That of `Tests/Vectors/packs/hostile`, for which seeds are made, with less text; one whose names give many tokens; an empty one.
    static let all: [Base] = [
        [
            "app.1111aaaa.js": "import \"./lib.2222bbbb.js\";\n",
            "index.html": "<script src=\"app.1111aaaa.js\"></script>\n",
            "lib.2222bbbb.js": "export const lib = 1;\n", "many.txt": String(repeating: "1111aaaa", count: 64),
        ],
        [
            "a/abcd.aaaa": "abcdabcdaaaaaaaa", "a/abcd.aaaaa": "aaaaaaaaaabcde", "a/abcde.aaaaaa": "aaaab",
            "a/abcdef": "abcdefabcde", "a/empty": "", "a/other": "other",
        ],
        [:],
    ].compactMap { try? Base($0) }

    let manifest: PackManifest
    let contents: [SHA256Digest: [UInt8]]

    private init(_ files: [String: String]) throws {
        var rows: [JSON] = []
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            let asset = Asset(
                path: try AssetPath(path),
                url: URLLayout.asset(try AssetPath(path)),
                type: AssetType(path: try AssetPath(path)),
                cacheable: false,
                sourceMap: nil,
                fingerprint: Fingerprint(of: Array(content.utf8))
            )
            rows.append(asset.json)
        }
        let header: [(String, JSON?)] = [
            ("app", .text("com.example.storefront")), ("compatibility", .object(JSONObject())),
            ("format", .text("patchline-manifest-v1")), ("index", .text("index.html")), ("patchId", .text("web")),
            ("version", .text("1.0.0")), ("assets", .array(rows)),
        ]
        manifest = try PackManifest(JSON.fields(header).fileBytes)
        contents = Dictionary(
            uniqueKeysWithValues: Set(files.values).map { content in
                (SHA256Digest(of: Array(content.utf8)), Array(content.utf8))
            }
        )
    }
}
