import PatchDelta
import PatchFormat
import PatchCrypto

/// A bundle in memory.
struct SampleBundle {
    var files: [String: [UInt8]]
    var version = "1.0.0"
    var cacheable: Set<String> = []

    init(_ files: [String: [UInt8]], version: String = "1.0.0") {
        self.files = files
        self.version = version
    }

    init(_ files: [String: String], version: String = "1.0.0") {
        self.init(files.mapValues { Array($0.utf8) }, version: version)
    }

    func manifest() throws -> [UInt8] {
        var assets: [Asset] = []
        for (name, content) in files {
            let path = try AssetPath(name)
            assets.append(
                Asset(
                    path: path,
                    url: URLLayout.asset(path),
                    type: AssetType(path: path),
                    cacheable: cacheable.contains(name),
                    sourceMap: files[name + ".map"] == nil ? nil : try AssetPath(name + ".map"),
                    fingerprint: Fingerprint(of: content)
                )
            )
        }
        assets.sort { $0.path < $1.path }
        let index = try AssetPath(files.keys.sorted().first ?? "index.html")
        guard let app = AppID("com.example.storefront"), let patchID = PatchID("web"),
            let version = VersionLabel(version)
        else { throw PackError.otherForm }
        let manifest = AssetManifest(
            app: app,
            patchID: patchID,
            version: version,
            commit: nil,
            created: nil,
            compatibility: [:],
            index: index,
            routes: nil,
            assets: assets
        )
        return manifest.json.fileBytes
    }

    var objects: [SHA256Digest: [UInt8]] {
        Dictionary(files.values.map { (SHA256Digest(of: $0), $0) }) { first, _ in first }
    }
}

/// What is sent for an update, and what comes of it.
struct Update {
    let base: SampleBundle
    let new: SampleBundle

    /// The pack, and what it is made of.
    func pack(effort: PackMaker.Effort = .most, work: Int? = nil) throws -> (bytes: [UInt8], summary: PackSummary) {
        let manifest = try new.manifest()
        let objects = base.objects.merging(new.objects) { first, _ in first }
        let maker = try PackMaker(
            base: try PackManifest(try base.manifest()),
            new: try PackManifest(manifest),
            manifest: SHA256Digest(of: manifest),
            objects: Self.objects(objects),
            effort: effort,
            work: work
        )
        var groups: [UInt8] = []
        let (head, summary) = try maker.make { groups += $0 }
        return (head + groups, summary)
    }

    static func objects(_ objects: [SHA256Digest: [UInt8]]) -> PackObjects {
        PackObjects { digest in objects[digest].map { PiecesInMemory($0) } }
    }

    /// The manifest and the contents that come out of a pack, which comes in parts of this size.
    func applied(
        _ pack: [UInt8],
        parts: Int = 65_536,
        limits: PackReader.Bounds = PackReader.Bounds(pack: 1 << 26, contents: 1 << 30)
    ) throws -> (manifest: [UInt8], contents: [Int: [UInt8]]) {
        let digest = SHA256Digest(of: try new.manifest())
        return try Self.applied(pack, base, asked: digest, parts: parts, limits: limits)
    }

    static func applied(
        _ pack: [UInt8],
        _ base: SampleBundle,
        asked: SHA256Digest,
        parts: Int = 65_536,
        limits: PackReader.Bounds = PackReader.Bounds(pack: 1 << 26, contents: 1 << 30)
    ) throws -> (manifest: [UInt8], contents: [Int: [UInt8]]) {
        var reader = PackReader(
            base: try PackManifest(try base.manifest()),
            manifest: asked,
            objects: objects(base.objects),
            limits: limits
        )
        var (contents, whole) = ([Int: [UInt8]](), [Int: Fingerprint]())
        var rest = pack[...]
        while !rest.isEmpty {
            reader.feed(Array(rest.prefix(parts)))
            rest = rest.dropFirst(parts)
            while let result = try reader.next() {
                switch result {
                case .piece(let bytes, let row): contents[row, default: []] += bytes
                case .content(let fingerprint, let row): whole[row] = fingerprint
                }
            }
        }
        let manifest = try reader.finish()
        guard contents.mapValues({ Fingerprint(of: $0) }) == whole else { throw PackError.incomplete }
        return (manifest, contents)
    }
}

/// A content that comes in pieces.
private final class PiecesInMemory: ByteSource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func next() -> [UInt8]? {
        defer { rest = rest.dropFirst(100_000) }
        return rest.isEmpty ? nil : Array(rest.prefix(100_000))
    }
}

/// Numbers that look random and are the same at every run.
struct SampleNumbers {
    private var state: UInt64

    init(_ seed: Int) {
        state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    }

    mutating func next(below bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func text(_ count: Int, of letters: String) -> String {
        let letters = Array(letters)
        return String((0..<count).map { _ in letters[next(below: letters.count)] })
    }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(next(below: 256)) } }

    /// Lines of a script that do not repeat.
    mutating func script(lines: Int) -> String {
        (0..<lines).map { _ in
            "const \(text(6, of: "abcdefghij"))=(\(text(4, of: "xyzuvw")))=>{return \(text(9, of: "klmnopqrst"))(\(next(below: 99_999)))};\n"
        }.joined()
    }
}
