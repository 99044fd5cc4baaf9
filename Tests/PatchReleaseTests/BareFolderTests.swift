import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTesting
import PatchTrust
import ReleaseFolder
import SystemPackage
import Testing

@Suite("A folder without release.yaml")
struct BareFolderTests {
    private static let page = "<!doctype html><html><head></head><body></body></html>"

    private func bench(_ files: [String: String] = ["dist/index.html": page]) throws -> Workbench {
        let bench = try Workbench()
        for (path, text) in files { try bench.write(text, to: path) }
        return bench
    }

    private func bare(_ bench: Workbench, _ name: String = "dist") throws -> BareFolder? {
        try BareFolder(bench.folder.appending(name), files: bench.files)
    }

    private func next(_ bench: Workbench, on base: String? = nil, version: String? = nil) async throws -> (
        label: Label, source: NextVersion.Source?
    ) {
        let trust = try bench.trust
        let found = try base.map {
            try BaseRelease(folder: bench.folder.appending($0), rootOfTrust: trust, files: bench.files)
        }
        return try await #require(bare(bench)).next(
            for: Workbench.app,
            named("production"),
            version: version.map { named($0) },
            over: found,
            at: Workbench.time,
            files: bench.files
        )
    }

    /// Signs the bare folder.
    @discardableResult
    private func release(_ bench: Workbench, to output: String, on base: String? = nil) async throws -> Label {
        let label = try await next(bench, on: base).label
        let (folder, builder) = (try #require(try bare(bench)), try bench.builder(on: base))
        let description = folder.description(app: Workbench.app, channel: named("production"), label: label)
        let made = try await builder.release(description, in: folder.parent)
        _ = try bench.write(made, to: output, with: builder)
        return label
    }

    @Test func `is one bundle, called web, with the date as its version`() async throws {
        let bench = try bench()
        let next = try await next(bench)
        #expect(next.label == label("web", "2026.1120.800") && next.source == .date)
        try await release(bench, to: "one")
        let contents = try ReleaseContents(
            SignedRelease(reading: bench.folder.appending("one"), files: bench.files)
        )
        #expect(contents.list.entries.map(\.label) == [label("web", "2026.1120.800")])
        #expect(contents.manifests[label("web", "2026.1120.800")]?.assets.map(\.path.text) == ["index.html"])
    }

    @Test func `keeps its version while its files stay, and gets the next with a change`() async throws {
        let bench = try bench()
        try await release(bench, to: "one")
        let same = try await next(bench, on: "one")
        #expect(same.label == label("web", "2026.1120.800") && same.source == .published)
        try bench.write("changed", to: "dist/index.html")
        #expect(try await release(bench, to: "two", on: "one") == label("web", "2026.1120.801"))
    }

    @Test func `has the version of the project's package.json until that is published`() async throws {
        let bench = try bench([
            "dist/index.html": Self.page, "package.json": #"{"name": "shop", "version": "1.4.0", "ratio": 0.5}"#,
        ])
        #expect(try await release(bench, to: "one") == label("web", "1.4.0"))
        try bench.write("changed", to: "dist/index.html")
        let next = try await next(bench, on: "one")
        #expect(next.label == label("web", "2026.1120.800") && next.source == .date)
    }

    @Test(arguments: [#"{"version": "0.0.0"}"#, "{}", "no JSON", #"{"version": "of the day"}"#])
    func `has no version of a package.json that names none`(_ text: String) async throws {
        let bench = try bench(["dist/index.html": Self.page, "package.json": text])
        #expect(try await next(bench).source == .date)
    }

    @Test func `has the version of the nearest git tag`() async throws {
        let bench = try bench()
        let git = ["-C", bench.folder.string, "-c", "user.name=a", "-c", "user.email=a@example.com"]
        for arguments in [
            ["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"], ["tag", "v2.1.0"],
        ] {
            #expect(try await tool("git", git + arguments).succeeded)
        }
        let next = try await next(bench)
        #expect(next.label == label("web", "2.1.0") && next.source == .git)
    }

    @Test func `has the version that the user names`() async throws {
        let next = try await next(try bench(), version: "7")
        #expect(next.label == label("web", "7") && next.source == nil)
    }

    @Test func `keeps the id of the only bundle that is listed`() async throws {
        let bench = try bench()
        try bench.write(
            "app: com.example.storefront\nchannel: production\npatches:\n"
                + "  - {id: shop, kind: bundle, version: \"1\", folder: web}\n",
            to: "v1/release.yaml"
        )
        try bench.write("old", to: "v1/web/index.html")
        try await bench.release("v1", to: "one")
        #expect(try await next(bench, on: "one").label == label("shop", "2026.1120.800"))
    }

    @Test func `is none with a description, and none without a page`() throws {
        let bench = try bench(["dist/release.yaml": "", "dist/index.html": "", "other/app.js": ""])
        #expect(try bare(bench) == nil)
        #expect(try bare(bench, "other") == nil)
    }

    @Test func `is not released past the description beside it`() throws {
        let bench = try bench()
        try bench.describe(".")
        try bench.write(Self.page, to: "web/index.html")
        let folder = bench.folder.appending("web")
        let meant = "\(bench.folder)/release.yaml describes it; name \(bench.folder)"
        #expect(throws: SigningError.noDescription(folder.appending("release.yaml"), meant: meant)) {
            try bare(bench, "web")
        }
        #expect(try bare(bench, "dist") != nil)
    }

    @Test func `is not a project whose build lies in it`() throws {
        let bench = try bench([
            "shop/index.html": Self.page, "shop/package.json": "{}", "shop/dist/index.html": Self.page,
        ])
        let folder = bench.folder.appending("shop")
        let meant = "\(folder) is a project; name its build folder: \(folder)/dist"
        #expect(throws: SigningError.noDescription(folder.appending("release.yaml"), meant: meant)) {
            try bare(bench, "shop")
        }
    }

    @Test(arguments: [("shop", "shop/dist"), ("plain", "plain"), ("old", "old/build")])
    func `is found in its project, to be described`(_ named: String, _ found: String) throws {
        let bench = try bench([
            "shop/index.html": Self.page, "shop/package.json": "{}", "shop/dist/index.html": Self.page,
            "plain/index.html": Self.page, "old/build/index.html": Self.page,
        ])
        let folder = try BareFolder(describing: bench.folder.appending(named), files: bench.files)
        #expect(folder?.folder == bench.folder.pushing(FilePath(found)))
    }

    @Test func `is checked without a key, also for a change`() async throws {
        let bench = try bench()
        try await release(bench, to: "one")
        func changed() async throws -> Bool? {
            let trust = try bench.trust
            let base = try BaseRelease(folder: bench.folder.appending("one"), rootOfTrust: trust, files: bench.files)
            let folder = try #require(try bare(bench))
            let label = try await next(bench, on: "one").label
            let check = try await ReleaseCheck(
                folder: folder.parent,
                described: folder.description(app: Workbench.app, channel: named("production"), label: label),
                trust: trust,
                base: base,
                files: bench.files
            ) { _, _ in { _ in } }
            #expect(check.mistakes == [])
            return check.isChanged
        }
        #expect(try await changed() == false)
        try bench.write("changed", to: "dist/index.html")
        #expect(try await changed() == true)
    }
}

@Suite("The next version")
struct NextVersionTests {
    private func next(
        _ packageFile: String? = nil,
        git: String? = nil,
        at time: String = "2026-11-28T08:00:00Z",
        _ published: Set<String> = []
    ) throws -> NextVersion {
        NextVersion(
            of: ProjectVersions(packageFile: packageFile, git: git),
            at: try #require(UTCTime(time)),
            published: published
        )
    }

    @Test func `is the project's own, package.json before git, while it is not published`() throws {
        #expect(try next("1.0.0", git: "2.0.0") == NextVersion(named("1.0.0"), .packageFile))
        #expect(try next("1.0.0", git: "2.0.0", ["1.0.0"]) == NextVersion(named("2.0.0"), .git))
        #expect(try next("1.0.0", git: "1.0.0", ["1.0.0"]) == NextVersion(named("2026.1128.800"), .date))
    }

    @Test func `of the date is the minute, and never goes back`() throws {
        #expect(try next().version.text == "2026.1128.800")
        #expect(try next(at: "2027-01-05T00:00:00Z", ["2026.1128.4"]).version.text == "2027.105.0")
        #expect(try next(at: "2026-11-28T23:59:59Z").version.text == "2026.1128.2359")
        #expect(try next(["2026.1128.759", "2026.1128.800", "3.0.0"]).version.text == "2026.1128.801")
        // Version 2026.1128.759 was rolled back, so the base does not list it.
        #expect(try next(["2026.1128.700"]).version.text == "2026.1128.800")
        // Made by a machine whose clock is ahead.
        #expect(try next(["2026.1201.2"]).version.text == "2026.1201.3")
        #expect(try next(["2026.9999.1", "2026.1128.x", "99999.1128.7"]).version.text == "2026.1128.800")
    }

    private func next(_ published: Set<String>) throws -> NextVersion { try next(nil, published) }

    @Test func `says where it comes from`() {
        #expect(
            [NextVersion.Source.packageFile, .git, .date, .published].map(\.words) == [
                "from package.json", "from git describe", "from the date", "published already, with the same content",
            ]
        )
    }
}

@Suite("The channel of a release that names none")
struct StandardChannelTests {
    @Test func `is the only one, or production`() {
        #expect(StandardChannel(of: [named("stable")])?.channel == named("stable"))
        #expect(StandardChannel(of: [named("stable")])?.rule.rawValue == "the app's only channel")
        #expect(StandardChannel(of: [named("beta"), named("production")])?.channel == named("production"))
        #expect(StandardChannel(of: [named("beta"), named("production")])?.rule.rawValue == "the default channel")
        #expect(StandardChannel(of: [named("beta"), named("stable")]) == nil)
    }
}

@Suite("A written description")
struct DescriptionTextTests {
    private func text(_ bench: Workbench, folder: String = "dist") async throws -> (text: String, check: ReleaseCheck) {
        let bare = try #require(try BareFolder(bench.folder.appending(folder), files: bench.files))
        let check = try await ReleaseCheck(
            folder: bare.parent,
            described: bare.description(app: Workbench.app, channel: named("production"), label: label("web", "1.4.0")),
            trust: nil,
            base: nil,
            files: bench.files
        ) { _, _ in { _ in } }
        let text = DescriptionText(
            app: Workbench.app,
            channel: named("production"),
            label: label("web", "1.4.0"),
            versionSource: NextVersion.Source.packageFile.words,
            folder: bare.name,
            recognition: check.recognitions[named("web")],
            notes: (check.mistakes + check.warnings).map(\.words)
        ).text
        return (text, check)
    }

    @Test func `has what was found in comments, and is a description of the same bundle`() async throws {
        let bench = try Workbench()
        try bench.write("<!doctype html><script>patchline.confirm()</script>", to: "dist/index.html")
        try bench.write("secret=1", to: "dist/.env")
        let (text, check) = try await text(bench)
        #expect(check.mistakes == [])
        #expect(
            text == """
                # The releases of com.example.storefront on production. `patchsign release --check .` finds mistakes in this file,
                # `patchsign release --schema` prints the schema that editors complete it with.
                app: com.example.storefront
                channel: production
                # The whole list of the channel: one row for each bundle or script.
                patches:
                  - id: web
                    kind: bundle
                    # From package.json. A version is published once: raise it with each change.
                    version: "1.4.0"
                    folder: "dist"
                    # 1 file or folder of dist left out by default: .env; `include:` adds one again
                    # The bundle is an app (index.html is its only page): an unknown page is answered with index.html; \
                if each page has its own file, set `routing: site` in release.yaml.
                    routing: app
                    # Patterns as in .gitignore, for files that stay out of the bundle.
                    # exclude: ["*.map", "drafts/"]
                    # The share of the devices that may install this version. Without it: all of them.
                    # rules: {rollout: 10%}
                    # With a text, devices that install security fixes alone install this version too.
                    # security: {text: "A form could run foreign scripts."}

                """
        )
        try bench.write(text, to: "release.yaml")
        let description = try ReleaseDescription(folder: bench.folder, files: bench.files)
        #expect(description.patches.map(\.label) == [label("web", "1.4.0")])
        // Each line that is commented out holds as it is.
        try bench.write(
            text.replacing("# exclude", with: "exclude").replacing("# rules", with: "rules"),
            to: "release.yaml"
        )
        #expect(try ReleaseDescription(folder: bench.folder, files: bench.files).patches.count == 1)
        try bench.write(text.replacing("# security", with: "security"), to: "release.yaml")
        #expect(try ReleaseDescription(folder: bench.folder, files: bench.files).patches[0].security != nil)
    }

    @Test func `quotes a folder's name`() async throws {
        let bench = try Workbench()
        try bench.write("<!doctype html><html></html>", to: "my \"app\": #1/index.html")
        let (text, _) = try await text(bench, folder: "my \"app\": #1")
        try bench.write(text, to: "release.yaml")
        let description = try ReleaseDescription(folder: bench.folder, files: bench.files)
        guard case .bundle(let bundle) = description.patches[0].content else { return #expect(Bool(false)) }
        #expect(bundle.folder.text == "my \"app\": #1")
    }
}
