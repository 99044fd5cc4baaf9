import HTTPFiles
import NIOHTTP1
import NIOPosix
package import PatchFormat
import PatchCrypto

/// The script patches of the served selection, under `/__patchline/scripts/PATCHID.js`.
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

        /// The URL under which a page requests the script.
        var url: String { "/\(PageAPI.prefix)/\(PageAPI.scriptFolder)/\(URLLayout.percentEncoded(patchID.text)).js" }
    }

    /// The scripts in the order in which they run.
    package let scripts: [Script]
    package let files: any ScriptFiles

    package init(_ scripts: [Script], files: any ScriptFiles) {
        self.scripts = scripts
        self.files = files
    }

    package static let none = ServedScripts([], files: NoScripts())

    /// Whether the device inserts any of them into pages.
    var areInPages: Bool { scripts.contains { $0.place.isInPages } }

    /// Returns the scripts for a page under this decoded path.
    func put(inPageAt segments: [String]) -> [Script] { scripts.filter { $0.place.isIn(pageAt: segments) } }

    subscript(id: PatchID) -> Script? { scripts.first { $0.patchID == id } }

    /// The list as `{"scripts": [{patchId, version, sha256, size, url, runsIn, pages}]}`.
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

/// The files of the served scripts.
///
/// Each is examined on its first request.
package protocol ScriptFiles: Sendable {
    /// Returns the file as it was verified, without reading it. Nil if it was replaced or is missing.
    func recorded(_ script: ServedScripts.Script) -> AssetFile?

    /// Verifies the digests again, and returns the file. Nil if it is missing, altered or not text.
    ///
    /// Blocks until the file is read.
    func examined(_ script: ServedScripts.Script) -> AssetFile?

    /// Reports a page that was served without its scripts.
    func leftOut(of page: String, _ reason: PagePlan.Reason)
}

private struct NoScripts: ScriptFiles {
    func recorded(_ script: ServedScripts.Script) -> AssetFile? { nil }
    func examined(_ script: ServedScripts.Script) -> AssetFile? { nil }
    func leftOut(of page: String, _ reason: PagePlan.Reason) {}
}

/// One script as the response to a request.
///
/// Its SHA-256 is the entity tag. Each use requires revalidation, unless the URL contains the digest.
struct ScriptAnswer: ExaminedFile {
    let isNamed: Bool
    let script: ServedScripts.Script
    let files: any ScriptFiles
    let contentType: String

    var recorded: FileAnswer? { files.recorded(script).map(answer) }

    func examined() async -> FileAnswer {
        if let recorded { return recorded }
        // Disk reads may block, so they must not run on the threads of Swift's tasks.
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
