import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchCrypto

/// The calls under `/__patchline/` between a page and the device that serves it.
package enum PageAPI {
    package static let prefix = "__patchline"
    static let scriptFolder = "scripts"
    /// The path of the calls for the folder of uploads, which the device's owner sets.
    package static let uploads = [prefix, "uploads"]
    /// Another origin cannot send this field without a preflight, which only succeeds for the configured origins.
    static let switchHeader = "X-Patchline-Switch"

    enum Call: Equatable, Sendable {
        case script, pageScript, page, scripts, parameters, report, events, check, switchToPending
        /// A program or page requests the cookie with the access token or the return key.
        case enter
        /// A document of the bundle is visible. The body contains its stamp.
        case shown
        case status(CallingPage)
        case confirm(CallingPage)
        /// A script patch to run, with the SHA-256 of its URL if there is one.
        case patch(PatchID, sha256: String?)
        /// The language of script patches in pages.
        case language(sha256: String?)
        /// A script patch failed in a page. The body contains the script and the error.
        case scriptFailed
        /// A page on trial reports its first error.
        case pageError
    }

    /// The call that a request makes, or its error response.
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
            // A script's URL may have a parameter that bypasses caches. In a POST call, an unknown parameter is an error, because
            // it would be ignored.
            if method == .POST, let other = PageAPI.unknownParameter(of: name, request.query) {
                self = .refused(json(.badRequest, "error", "\(name) takes no parameter '\(other)'"))
                return
            }
            self = PageAPI.reading(name, request)
        }
    }

    private static func unknownParameter(of call: String, _ query: String?) -> Substring? {
        let known: Set<Substring> = call == "confirm" ? ["launch", "page"] : []
        return query?.split(separator: "&").map { $0.prefix { $0 != "=" } }.first { !known.contains($0) }
    }

    /// Whether a request asks for the cookie, which it does not have yet.
    static func isEntering(_ request: FileRequest) -> Bool {
        request.method == .POST && request.path.segments == [prefix, "enter"] && !request.path.hasTrailingSlash
    }

    private static let methods: [String: HTTPMethod] = [
        "launch.js": .GET, "page.js": .GET, "page": .GET, scriptFolder: .GET, "scripts.json": .GET, "status": .GET,
        "parameters": .GET, "report": .GET,
        "language.js": .GET, "events": .GET, "confirm": .POST, "check": .POST, "switch": .POST, "script-failed": .POST,
        "page-error": .POST, "shown": .POST, "enter": .POST,
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
        case "shown": return .call(.shown)
        case "enter": return .call(.enter)
        case "status", "confirm":
            do throws(FormatError) {
                let speaker = try CallingPage(
                    page: value(of: "page", in: request.query),
                    launch: value(of: "launch", in: request.query)
                )
                return .call(name == "status" ? .status(speaker) : .confirm(speaker))
            } catch { return .refused(json(.badRequest, "error", error.description)) }
        case "parameters": return .call(.parameters)
        case "report": return .call(.report)
        case "events": return .call(.events)
        case "check": return .call(.check)
        default:
            guard request.headers.contains(name: switchHeader) else {
                return .refused(json(.badRequest, "error", "switch needs the header \(switchHeader)"))
            }
            return .call(.switchToPending)
        }
    }

    /// The last event that a page has received, from the query of a page that cannot set a header.
    static func after(in query: String?) -> String? { value(of: "after", in: query) }

    /// Whether a page requests only the missed events instead of a stream.
    static func isPoll(_ query: String?) -> Bool { value(of: "wait", in: query) == "0" }

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

    /// The script that updates changed blocks in pages shown from the stored copy.
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

    /// - Parameters:
    ///   - page: The version of the page's release, if known.
    ///   - current: The version that is served now.
    static func otherRelease(_ page: String, served current: String?) -> FileAnswer {
        let now = current.map { "\($0) is served now" } ?? "no version is served now"
        return json(.conflict, "error", "this page is of \(page), and \(now)")
    }

    static let noStamp = json(
        .conflict,
        "error",
        "this call names no page: send the page's release stamp, as patchline.confirm() of launch.js does"
    )

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
