import PatchFormat

/// A valid but probably unintended part of a bundle.
///
/// Each note becomes one warning.
enum BundleNote: Equatable, Sendable {
    /// Files that were left out without a rule of the user.
    case leftOut([String])
    /// Compressed files that differ from their plain files and are therefore left out.
    case stale([AssetPath], of: [AssetPath])
    /// Files with a coding's extension but another content; `isLeftOut` if each has a plain file next to it.
    case notCompressed([AssetPath], isLeftOut: Bool)
    /// Source maps that contain the app's source code, without a setting for source maps.
    case sources([AssetPath])
    case browserKeys([AssetPath])
    case hostNames([FileLine], more: Int)
    /// Names that Windows cannot store.
    case notForWindows([AssetPath])
    /// Linked web app manifests that browsers recognise only by their content type.
    case manifests([LinkedManifests.Link])
    case missingManifests([LinkedManifests.Link])
    /// Archives that were not searched for secrets, or only partly.
    case unsearched([BundleArchives.Gap])
    /// No page or script confirms the version.
    case unconfirmed

    struct FileLine: Equatable, Sendable {
        let path: AssetPath
        /// Line number, from 1.
        let line: Int
        let column: Int
    }

    private static let shown = 10

    /// The member of a described bundle that the note refers to.
    var key: String {
        switch self {
        case .leftOut, .stale, .notCompressed, .browserKeys, .hostNames, .notForWindows, .missingManifests, .unsearched:
            "folder"
        case .manifests: "headers"
        case .sources: "source-maps"
        case .unconfirmed: "confirmed-by"
        }
    }

    /// The sentence that follows the member's name.
    func rule(in folder: AssetPath) -> String {
        switch self {
        case .leftOut(let paths):
            return
                ": \(Words.count(paths.count, "file or folder", "files and folders")) of \(folder) left out by default: "
                + "\(Self.list(paths)); `include:` adds one again"
        case .stale(let paths, let plain):
            let pairs = zip(paths, plain).map { "\($0) (\($1))" }
            return
                ": \(Self.subject(paths.count, "compressed file differs from its plain one and was", "compressed files differ from their plain ones and were")) "
                + "left out of \(folder): \(Self.list(pairs)); compress after the last change"
        case .notCompressed(let paths, let isLeftOut):
            let rest = isLeftOut ? " and left out" : ""
            return
                ": \(Self.subject(paths.count, "file is", "files are")) not of the type in the file name\(rest): \(Self.list(paths.map(\.text)))"
        case .sources(let paths):
            return
                ": \(Self.subject(paths.count, "source map", "source maps")) with the app's source code in \(folder): "
                + "\(Self.list(paths.map(\.text))); write `source-maps: include` or `leave-out`"
        case .browserKeys(let paths):
            return
                ": an API key of Google is in \(Self.list(paths.map(\.text))); anyone can read it, so restrict it to this app"
        case .hostNames(let places, let more):
            let names = places.map { "\($0.path):\($0.line):\($0.column)" }.joined(separator: ", ")
            let rest = more > 0 ? " and \(Words.grouped(more)) more" : ""
            return
                ": the host's name is compared with localhost at \(names)\(rest); a device's pages are at NAME.localhost, so they "
                + "are treated as on a public site: `patchsync set --host localhost` opens them at localhost"
        case .notForWindows(let paths):
            return ": \(Self.subject(paths.count, "name", "names")) that Windows cannot store in \(folder): "
                + "\(Self.list(paths.map(\.text))); devices accept them"
        case .manifests(let links):
            let names = Self.list(links.map { "\($0.target) (\($0.page))" })
            let example = "{\(links[0].target): {Content-Type: \(WebAppManifest.contentType)}}"
            return
                ": \(Self.subject(links.count, "linked web app manifest is", "linked web app manifests are")) signed as "
                + "\(WebAppManifest.contentType), which devices serve without their cookie: \(names); "
                + "write `headers: \(example)` to confirm"
        case .missingManifests(let links):
            let names = Self.list(links.map { "\($0.target) (\($0.page))" })
            return
                ": \(Self.subject(links.count, "linked web app manifest is", "linked web app manifests are")) not in "
                + "\(folder), or not a JSON object: \(names); browsers request it without cookies, so devices refuse it: add the file, or "
                + "crossorigin=\"use-credentials\" to the link"
        case .unsearched(let gaps):
            return
                ": \(Self.subject(gaps.count, "archive was", "archives were")) only partly searched for secrets: "
                + "\(Self.list(gaps.map { "\($0.path) (\($0.reason.rawValue))" })); name those without secrets in `allow-secrets:`"
        case .unconfirmed:
            return
                ": no file of \(folder) calls `patchline.confirm()`, so devices roll back each update 20 seconds after it is "
                + "shown; call it once the page works, or write `confirmed-by: program` if a program confirms"
        }
    }

    private static func subject(_ count: Int, _ one: String, _ many: String) -> String { Words.count(count, one, many) }

    private static func list(_ names: [String]) -> String {
        let more = names.count > shown ? " and \(Words.grouped(names.count - shown)) more" : ""
        return names.prefix(shown).joined(separator: ", ") + more
    }
}

/// Names that are reserved on Windows or contain characters that its file systems reject.
enum WindowsNames {
    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    )

    static func refuses(_ path: AssetPath) -> Bool {
        path.segments.contains { name in
            let stem = name.prefix { $0 != "." }.lowercased()
            return reserved.contains(stem) || name.hasSuffix(".") || name.hasSuffix(" ")
                || name.utf8.contains { "<>:\"|?*".utf8.contains($0) }
        }
    }
}
