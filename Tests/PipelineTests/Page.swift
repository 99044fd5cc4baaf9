import FoundationEssentials
import SystemPackage
import Testing

/// What a running `patchsync serve` shows, asked with curl.
struct Page: Sendable {
    let device: Device
    let program: RunningProgram
    /// Without a closing slash.
    let url: String
    /// What the first URL turned into.
    let cookie: String?

    /// Nobody who was let in.
    ///
    /// - Parameter address: as `serve` prints it; without a token.
    init(device: Device, program: RunningProgram, address: String, cookie: String? = nil) {
        self.device = device
        self.program = program
        let base = address.prefix { $0 != "?" }
        url = base.hasSuffix("/") ? String(base.dropLast()) : String(base)
        self.cookie = cookie
    }

    /// - Parameter address: as `serve` prints it, with the access token, which is turned into a cookie.
    static func opened(device: Device, program: RunningProgram, address: String) async throws -> Page {
        let parts = address.split(separator: "?")
        let page = Page(device: device, program: program, address: address)
        guard parts.count > 1 else { return page }
        // A program that was told to die may be gone by now.
        let first = try await run(.system("curl"), ["-sSi", "\(page.url)/__patchline/status?\(parts[1])"]).output
        let cookie = first.firstMatch(of: #/Set-Cookie: (cdvToken_\d+=[0-9a-f]+);/#).map { String($0.1) }
        return Page(device: device, program: program, address: address, cookie: cookie)
    }

    /// The body of an answer, and its status.
    func get(_ path: String, _ options: String...) async throws -> Answer {
        let answers = try await get([path], options)
        return try #require(answers.first)
    }

    /// Several, by one run of curl.
    private func get(_ paths: [String], _ options: [String] = []) async throws -> [Answer] {
        let mark = "\u{1E}"
        let outcome = try await run(
            .system("curl"),
            ["-sS", "--globoff", "--path-as-is", "-w", "\(mark)%{http_code}\(mark)"]
                + (cookie.map { ["-b", $0] } ?? []) + options + paths.map { url + $0 }
        ).done()
        let parts = outcome.output.split(separator: mark, omittingEmptySubsequences: false)
        return stride(from: 0, to: parts.count - 1, by: 2).map {
            Answer(status: Int(parts[$0 + 1]) ?? 0, body: String(parts[$0]))
        }
    }

    struct Answer: Sendable {
        let status: Int
        let body: String
    }

    /// Every page of a release is served, byte for byte, and nothing that no release holds.
    func expect(release number: Int, location: SourceLocation = #_sourceLocation) async throws {
        let pages = Source(number).pages.sorted { $0.key < $1.key }
        let hidden = ["/Downloading/", "/../Downloading/", "/%2e%2e/%2e%2e/config.json", "/PartialDownload/"]
        let answers = try await get(pages.map(\.key) + hidden)
        try #require(answers.count == pages.count + hidden.count, sourceLocation: location)
        for ((path, text), answer) in zip(pages, answers) {
            #expect(answer.status == 200 && answer.body == text, "\(path): \(answer)", sourceLocation: location)
        }
        for (path, answer) in zip(hidden, answers.dropFirst(pages.count)) {
            #expect([400, 404].contains(answer.status), "\(path): \(answer)", sourceLocation: location)
        }
    }

    /// The release that `/` shows; nil while nothing is installed.
    func release() async throws -> Int? {
        let answer = try await get("/")
        return answer.status == 200 ? answer.body.firstMatch(of: #/release (\d)/#).flatMap { Int($0.1) } : nil
    }

    /// The token in the script that the page loads.
    func token() async throws -> String? {
        try await get("/__patchline/launch.js").body.firstMatch(of: #/launch: "([0-9a-f]{32})"/#).map { String($0.1) }
    }

    func confirm() async throws {
        let token = try #require(try await token())
        let answer = try await confirm(token)
        guard answer.status == 200 else { throw ToolTrouble.failed("confirm: \(answer)") }
    }

    func confirm(_ token: String) async throws -> Answer {
        try await get("/__patchline/confirm?launch=\(token)", "-X", "POST")
    }
}
