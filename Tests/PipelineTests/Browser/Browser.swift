import FoundationEssentials
import SystemPackage
import Testing

/// A session of a headless Chromium, with tabs, cookies and caches of its own: Judges/browser.py.
struct Browser: Sendable {
    fileprivate let address: String
    fileprivate let session: String

    /// Where screenshots stay: `PATCHLINE_ARTIFACTS`, else beside the running test bundle.
    static var artifacts: FilePath {
        ProcessInfo.processInfo.environment["PATCHLINE_ARTIFACTS"].map { FilePath($0) }
            ?? Tool.binaries.appending("test-artifacts")
    }

    /// One tab, of which it has as many as there are names.
    struct Tab: Sendable {
        fileprivate let browser: Browser
        fileprivate let name: String
        fileprivate let profile: String

        /// - Returns: the status of the page that it ended at.
        @discardableResult
        func open(_ url: String) async throws -> Int? {
            Int(try await take("open", ["url": url, "profile": profile]))
        }

        /// The value of an expression, or of its promise: a text as it is, anything else as JSON.
        @discardableResult
        func run(_ code: String) async throws -> String { try await take("run", ["code": code]) }

        /// Until an expression is true, however often the page is loaded again meanwhile.
        func wait(for code: String) async throws { _ = try await take("wait", ["code": code]) }

        func click(_ selector: String) async throws { _ = try await take("click", ["on": selector]) }

        func type(_ key: String) async throws { _ = try await take("type", ["key": key]) }

        /// From now on a script from such a URL has other bytes on its way.
        func alter(_ url: String, _ script: String) async throws {
            _ = try await take("alter", ["url": url, "body": script])
        }

        func reload() async throws { _ = try await take("reload") }

        /// A screenshot for people.
        func keep(_ name: String) async throws { _ = try await take("keep", ["name": name]) }

        private func take(_ step: String, _ values: [String: String] = [:]) async throws -> String {
            try await browser.take(step, values.merging(["tab": name]) { $1 })
        }
    }

    /// - Parameter profile: tabs of one profile share cookies and storage.
    func tab(_ name: String = "first", profile: String = "app") -> Tab {
        Tab(browser: self, name: name, profile: profile)
    }

    /// What the consoles of all tabs said is wrong, since they were asked last.
    func faults() async throws -> [String] { try await lines("faults") }

    /// `STATUS TARGET` of each request that left the browser, since it was asked last.
    func requests() async throws -> [String] { try await lines("wire") }

    private func lines(_ step: String) async throws -> [String] {
        try await take(step).split(separator: "\n").map(String.init)
    }

    fileprivate func take(_ step: String, _ values: [String: String] = [:]) async throws -> String {
        let body = try JSONEncoder().encode(values.merging(["step": step, "session": session]) { $1 })
        let outcome = try await PipelineTests.run(
            .system("curl"),
            ["-sS", "--fail-with-body", "-d", String(decoding: body, as: UTF8.self), address]
        )
        guard outcome.code == 0 else { throw ToolTrouble.failed("\(step) \(values): \(outcome.text)") }
        return outcome.output
    }
}

extension World {
    /// Opens a session of the one browser while `body` runs.
    func withBrowser(_ body: @escaping @Sendable (Browser) async throws -> Void) async throws {
        let address = try #require(OneBrowser.address, "only a test in a suite with the trait `oneBrowser` has one")
        let browser = Browser(address: address, session: folder.string)
        do {
            try await body(browser)
        } catch {
            _ = try? await browser.take("end")
            throw error
        }
        _ = try await browser.take("end")
    }
}

/// Runs one Chromium as long as a suite's tests run.
struct OneBrowser: SuiteTrait, TestScoping {
    @TaskLocal fileprivate static var address: String?

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing tests: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(
            atPath: Browser.artifacts.string,
            withIntermediateDirectories: true
        )
        let arguments = [Tool.script("browser.py"), Browser.artifacts.string]
        try await withoutActuallyEscaping(tests) { tests in
            _ = try await running(.python, arguments, deadline: patience * 12) { program in
                let address = try await program.address()
                try await Self.$address.withValue(address) { try await tests() }
            }
        }
    }
}

extension Trait where Self == OneBrowser {
    static var oneBrowser: Self { Self() }
}
