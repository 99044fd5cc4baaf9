import HTTPFiles
import NIOHTTP1
import NIOPosix
package import PatchFormat
import PatchCrypto

/// The script patches of what is served, for whoever runs them: `/__patchline/scripts/PATCHID.js`.
package struct ServedScripts: Sendable {
    package struct Script: Equatable, Sendable {
        package let patchID: PatchID
        package let version: VersionLabel
        package let sha256: SHA256Digest
        package let size: Int
        package let place: ScriptPlace

        package init(
            patchID: PatchID,
            version: VersionLabel,
            sha256: SHA256Digest,
            size: Int,
            place: ScriptPlace = .host
        ) {
            self.patchID = patchID
            self.version = version
            self.sha256 = sha256
            self.size = size
            self.place = place
        }

        fileprivate var members: [(String, JSON?)] {
            [
                ("patchId", .text(patchID.text)), ("version", .text(version.text)), ("sha256", .text(sha256.hex)),
                ("size", .integer(size)), ("url", .text(url)),
            ]
        }

        /// Where a page asks for it.
        var url: String { "/\(PageAPI.prefix)/\(PageAPI.scriptFolder)/\(URLLayout.percentEncoded(patchID.text)).js" }
    }

    /// In the order in which they run.
    package let scripts: [Script]
    package let files: any ScriptFiles

    package init(_ scripts: [Script], files: any ScriptFiles) {
        self.scripts = scripts
        self.files = files
    }

    package static let none = ServedScripts([], files: NoScripts())

    /// Whether the device puts any of them into pages.
    var areInPages: Bool { scripts.contains { $0.place.isInPages } }

    /// Those that a page under this decoded path gets.
    func put(inPageAt segments: [String]) -> [Script] { scripts.filter { $0.place.isIn(pageAt: segments) } }

    subscript(id: PatchID) -> Script? { scripts.first { $0.patchID == id } }

    /// As `{"scripts": [{patchId, version, sha256, size, url, runsIn, pages}]}`.
    var list: FileAnswer {
        let bytes =
            JSON.fields([
                (
                    "scripts",
                    .array(
                        scripts.map { script in
                            .fields(script.members + script.place.members)
                        }
                    )
                )
            ]).fileBytes
        return .bytes(
            ServedBytes(bytes: bytes, entityTag: SHA256Digest(of: bytes).hex, contentType: "application/json")
        )
    }
}

/// The files of the scripts that are served: each is looked at when somebody asks for it.
package protocol ScriptFiles: Sendable {
    /// The file as it was verified, known without reading it; nil when another one lies there, or none.
    func recorded(_ script: ServedScripts.Script) -> AssetFile?

    /// The file once its digests were compared again; nil when it is missing, altered or no text.
    ///
    /// Blocks for as long as it takes to read the file.
    func examined(_ script: ServedScripts.Script) -> AssetFile?

    /// A page that was to get scripts comes as it is.
    func leftOut(of page: String, _ reason: PagePlan.Reason)
}

private struct NoScripts: ScriptFiles {
    func recorded(_ script: ServedScripts.Script) -> AssetFile? { nil }
    func examined(_ script: ServedScripts.Script) -> AssetFile? { nil }
    func leftOut(of page: String, _ reason: PagePlan.Reason) {}
}

/// One script as it answers a request: its SHA-256 is the tag, and each use asks again, but under a URL that names it.
struct ScriptAnswer: ExaminedFile {
    let isNamed: Bool
    let script: ServedScripts.Script
    let files: any ScriptFiles
    let contentType: String

    var recorded: FileAnswer? { files.recorded(script).map(answer) }

    func examined() async -> FileAnswer {
        if let recorded { return recorded }
        // A disk may stall; the threads that run Swift's tasks must not.
        let file = try? await NIOThreadPool.singleton.runIfActive { [files, script] in files.examined(script) }
        if let file = file ?? nil { return answer(file) }
        return PageAPI.json(
            .serviceUnavailable,
            "error",
            "\(script.patchID) \(script.version) is damaged on this device; the next sync heals it"
        ).adding(missing: ["Retry-After": "5"])
    }

    private func answer(_ file: AssetFile) -> FileAnswer {
        .file(
            ServedFile(
                path: file.path,
                root: file.root,
                entityTag: script.sha256.hex,
                contentType: contentType,
                cacheControl: isNamed ? PageLanguage.forAYear : "no-cache",
                headers: [:],
                size: script.size,
                identity: file.identity
            )
        )
    }
}
