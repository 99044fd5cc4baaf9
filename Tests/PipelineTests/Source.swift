import FoundationEssentials
import PatchTesting
import SystemPackage

/// A small release before it is signed: two scripts and a web bundle.
///
/// `tip` is the same in all of them, and so are two files of the bundle.
struct Source {
    let number: Int
    let files: [String: String]

    init(_ number: Int) {
        self.number = number
        files = [
            "release.yaml": """
            app: \(Workshop.app)
            channel: production
            patches:
              - {id: fix, kind: script, version: "\(number)", file: scripts/fix.js}
              - {id: tip, kind: script, version: "1", file: scripts/tip.js}
              - {id: web, kind: bundle, version: \(number).0.0, folder: web, index: index.html, confirmed-by: program, routes: ["/", "/item/*"]}

            """,
            "scripts/fix.js": "// the fix of release \(number)\n",
            "scripts/tip.js": "// a tip\n",
            "web/index.html": "<!doctype html><title>release \(number)</title>\n",
            "web/app/main.js": "console.log('release \(number)');\n",
            "web/app/release\(number).js": "// only in release \(number)\n",
            "web/app/same.css": "body { margin: 0 }\n",
            "web/img/same.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
        ]
    }

    /// By URL path, what a device that runs this release serves.
    var pages: [String: String] {
        var pages = ["/": files["web/index.html"] ?? "", "/item/7": files["web/index.html"] ?? ""]
        for (path, text) in files where path.hasPrefix("web/") { pages[String(path.dropFirst(3))] = text }
        return pages
    }

    func put(in folder: FilePath) throws {
        for (path, text) in files { try write(text, to: folder.pushing(FilePath(path))) }
    }
}

/// Writes a text, making the folders above it.
func write(_ text: String, to path: FilePath) throws {
    try FileManager.default.createDirectory(
        atPath: path.removingLastComponent().string,
        withIntermediateDirectories: true
    )
    try text.write(toFile: path.string, atomically: false, encoding: .utf8)
}

/// A file that other users cannot read: programs warn of a secret in any other.
func writeSecret(_ text: String, to path: FilePath) throws {
    try write(text, to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.string)
}

func read(_ path: FilePath) throws -> String {
    try String(contentsOfFile: path.string, encoding: .utf8)
}

/// A file of 3,200,000 bytes that does not shrink on its way.
func writeLarge(to path: FilePath) throws {
    var chance = SeededGenerator(state: 1)
    let large = Data((0..<3_200_000).map { _ in UInt8.random(in: .min ... .max, using: &chance) })
    try large.write(to: URL(filePath: path.string))
}
