import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchTrust

/// The calls under `/__patchline/`: what a page says to the device that serves it, and what it may ask.
package enum PageAPI {
    package static let prefix = "__patchline"
    static let scriptFolder = "scripts"
    /// The names that lead to the calls over a folder that the device's owner names.
    package static let uploads = [prefix, "uploads"]
    /// Another origin cannot send it without asking first, and is only allowed to where a setting names it.
    static let switchHeader = "X-Patchline-Switch"

    enum Call: Equatable, Sendable {
        case script, pageScript, page, scripts, status, parameters, report, events, check, switchToPending
        case confirm(launch: String)
        /// A script patch, to be run; its SHA-256 where the URL names it.
        case patch(PatchID, sha256: String?)
        /// What script patches of pages are written in.
        case language(sha256: String?)
        /// A script patch failed in a page; the body says which and how.
        case scriptFailed
        /// A page on trial reports its first error.
        case pageError
    }

    /// What a request asks for, or why it asks in vain.
    enum Reading: Sendable {
        case call(Call)
        case refused(FileAnswer)

        init(_ request: FileRequest) {
            let segments = request.path.segments
            guard let name = segments.dropFirst().first, segments.count == (name == scriptFolder ? 3 : 2),
                !request.path.hasTrailingSlash, let method = PageAPI.methods[name]
            else {
                self = .refused(.notFound)
                return
            }
            guard request.method == method || request.method == .HEAD && method == .GET && name != "events" else {
                let allow = method == .GET && name != "events" ? "GET, HEAD" : method.rawValue
                self = .refused(.refused(.methodNotAllowed, message: "Only \(allow).", headers: ["Allow": allow]))
                return
            }
            // A script's URL may have a parameter that keeps caches away; one of a call is a wish that would go unheard.
            if method == .POST, let other = PageAPI.unknownParameter(of: name, request.query) {
                self = .refused(json(.badRequest, "error", "\(name) takes no parameter '\(other)'"))
                return
            }
            self = PageAPI.reading(name, request)
        }
    }

    private static func unknownParameter(of call: String, _ query: String?) -> Substring? {
        let known: Set<Substring> = call == "confirm" ? ["launch"] : []
        return query?.split(separator: "&").map { $0.prefix { $0 != "=" } }.first { !known.contains($0) }
    }

    /// Whether somebody asks for the script that speaks for a page, as one that came from a cache does, or for a patch to
    /// be run.
    static func isScript(_ request: FileRequest) -> Bool {
        request.method == .GET
            && ["launch.js", "page.js", "language.js", scriptFolder].contains(request.path.segments.dropFirst().first)
    }

    private static let methods: [String: HTTPMethod] = [
        "launch.js": .GET, "page.js": .GET, "page": .GET, scriptFolder: .GET, "scripts.json": .GET, "status": .GET,
        "parameters": .GET, "report": .GET,
        "language.js": .GET, "events": .GET, "confirm": .POST, "check": .POST, "switch": .POST, "script-failed": .POST,
        "page-error": .POST,
    ]

    private static func reading(_ name: String, _ request: FileRequest) -> Reading {
        switch name {
        case "launch.js": return .call(.script)
        case "page.js": return .call(.pageScript)
        case "page": return .call(.page)
        case "scripts.json": return .call(.scripts)
        case scriptFolder:
            guard let file = request.path.segments.last, file.hasSuffix(".js"),
                let id = PatchID(String(file.dropLast(3)))
            else { return .refused(.notFound) }
            return .call(.patch(id, sha256: value(of: PageTags.parameter, in: request.query)))
        case "language.js": return .call(.language(sha256: value(of: PageTags.parameter, in: request.query)))
        case "script-failed": return .call(.scriptFailed)
        case "page-error": return .call(.pageError)
        case "status": return .call(.status)
        case "parameters": return .call(.parameters)
        case "report": return .call(.report)
        case "events": return .call(.events)
        case "check": return .call(.check)
        case "confirm":
            guard let launch = launch(in: request.query) else {
                return .refused(json(.badRequest, "error", "confirm needs ?launch=TOKEN"))
            }
            return .call(.confirm(launch: launch))
        default:
            guard request.headers.contains(name: switchHeader) else {
                return .refused(json(.badRequest, "error", "switch needs the header \(switchHeader)"))
            }
            return .call(.switchToPending)
        }
    }

    private static func launch(in query: String?) -> String? { value(of: "launch", in: query) }

    /// The last event that a page has seen, where it cannot say so in a header.
    static func after(in query: String?) -> String? { value(of: "after", in: query) }

    private static func value(of name: String, in query: String?) -> String? {
        query?.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    // MARK: Answers

    static func json(_ status: HTTPResponseStatus, _ key: String, _ value: String) -> FileAnswer {
        json(status, .fields([(key, .text(value))]))
    }

    static func json(_ status: HTTPResponseStatus, _ value: JSON) -> FileAnswer {
        .bytes(
            ServedBytes(
                status: status,
                bytes: value.fileBytes,
                contentType: "application/json",
                cacheControl: "no-store"
            )
        )
    }

    static var script: FileAnswer { constant(PageScript.text, named: "launch.js") }

    /// What puts changed blocks into pages that were shown as they were kept.
    static var pageScript: FileAnswer { constant(LivePageScript.text, named: "page.js") }

    private static func constant(_ text: String, named name: String) -> FileAnswer {
        let bytes = Array(text.utf8)
        return .bytes(
            ServedBytes(
                bytes: bytes,
                entityTag: SHA256Digest(of: bytes).hex,
                contentType: ContentType.of(path: name)
            )
        )
    }

    static func answer(_ readiness: ReadyOutcome) -> FileAnswer {
        switch readiness {
        case .confirmed, .alreadyConfirmed: json(.ok, "result", readiness.rawValue)
        case .otherLaunch: json(.conflict, "error", "this page belongs to another launch")
        case .failed: json(.internalServerError, "error", "the device could not write its state")
        }
    }

    static func answer(_ outcome: ScriptFailureOutcome) -> FileAnswer {
        switch outcome {
        case .told: json(.ok, "result", "told")
        case .rolledBack: json(.ok, "result", "rolledBack")
        case .unknown: json(.conflict, "error", "no such script runs in a page of this launch")
        case .failed: json(.internalServerError, "error", "the device could not write its state")
        }
    }

    static func answer(_ switching: Switching) -> FileAnswer {
        switch switching {
        case .switched: json(.ok, "result", "switched")
        case .refused(let why): json(.conflict, "error", why)
        }
    }
}
