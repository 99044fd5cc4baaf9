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
            let isWhole = answer.status == 200 && answer.body.withoutStamp == text
            #expect(isWhole, "\(path): \(answer)", sourceLocation: location)
        }
        try await show()
        for (path, answer) in zip(hidden, answers.dropFirst(pages.count)) {
            #expect([400, 404].contains(answer.status), "\(path): \(answer)", sourceLocation: location)
        }
    }

    /// The release that `/` shows; nil while nothing is installed.
    func release() async throws -> Int? {
        let answer = try await show()
        return answer.status == 200 ? answer.body.firstMatch(of: #/release (\d)/#).flatMap { Int($0.1) } : nil
    }

    /// Loads `/` and reports that it is shown, as its stamp's script does in a browser.
    @discardableResult
    func show() async throws -> Answer {
        let page = try await get("/")
        if let stamp = page.body.stamp {
            _ = try await get("/__patchline/shown", "-d", #"{"page":"\#(stamp)","age":0}"#)
        }
        return page
    }

    /// The token of the launch on trial; nil while none runs.
    func token() async throws -> String? {
        let status = try await device("status", "--json").output
        return status.firstMatch(of: #/"launch":"([0-9a-f]{32})"/#).map { String($0.1) }
    }

    /// The release stamp of `/`.
    func stamp() async throws -> String? { try await get("/").body.stamp }

    func confirm() async throws {
        let stamp = try #require(try await stamp())
        let answer = try await confirm(stamp)
        guard answer.status == 200 else { throw ToolTrouble.failed("confirm: \(answer)") }
    }

    /// - Parameter stamp: of the page that says so.
    func confirm(_ stamp: String) async throws -> Answer {
        try await get("/__patchline/confirm?page=\(stamp)", "-X", "POST")
    }
}

extension String {
    /// The release stamp that the device put into a page.
    var stamp: String? { firstMatch(of: #/<script data-patchline="([0-9a-f]{32})"/#).map { String($0.1) } }

    /// A page without its release stamp.
    var withoutStamp: String { replacing(#/<script data-patchline=.*?</script>/#.dotMatchesNewlines(), with: "") }
}
