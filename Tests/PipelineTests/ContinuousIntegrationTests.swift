import Foundation
import Subprocess
import SystemPackage
import Testing
import YAMLReading

/// The files in `Examples/CI`: their structure, and their steps on real programs.
@Suite("The files for continuous integration")
struct ContinuousIntegrationTests {
    @Test func `have the structure that GitHub asks for`() async throws {
        let workflow = try PipelineFile("github-actions.yml")
        try #require(workflow.root.keys == ["name", "on", "permissions", "defaults", "jobs"])
        // A token of the pipeline's own identity is not asked for.
        #expect(workflow.root["permissions"]?.text(of: "contents") == "read")
        #expect(workflow.root["permissions"]?.keys == ["contents"])
        let jobs = try #require(workflow.root["jobs"])
        #expect(jobs.keys == ["check", "release"])
        for name in jobs.keys {
            let job = try #require(jobs[name])
            let known: Set<String> = ["if", "runs-on", "container", "concurrency", "steps"]
            #expect(Set(job.keys).subtracting(known).isEmpty && job["runs-on"] != nil, "\(name)")
            let steps = try #require(job["steps"]?.items)
            #expect(!steps.isEmpty)
            for step in steps {
                #expect((step["run"] == nil) != (step["uses"] == nil), "\(step)")
                let allowed: Set<String> = step["run"] == nil ? ["uses", "with"] : ["name", "env", "run"]
                #expect(Set(step.keys).subtracting(allowed).isEmpty, "\(step)")
                if let action = step.text(of: "uses") {
                    #expect(action.wholeMatch(of: /[a-z-]+\/[a-z-]+@v[0-9]+/) != nil, "\(action)")
                }
                // An expression in a script is text of somebody else's in a shell; in `env` it is a value.
                #expect(step.text(of: "run")?.contains("${{") != true, "\(step)")
            }
        }
    }

    @Test func `have the structure that GitLab asks for`() async throws {
        let file = try PipelineFile("gitlab-ci.yml")
        let reserved: Set<String> = ["stages", "default"]
        let stages = try #require(file.root["stages"]?.items).compactMap(\.text)
        let jobs = file.root.keys.filter { !reserved.contains($0) }
        #expect(jobs == ["check", "release"])
        #expect(file.root["default"]?.keys == ["image", "before_script"])
        for name in jobs {
            let job = try #require(file.root[name])
            let known: Set<String> = ["stage", "rules", "resource_group", "cache", "script"]
            #expect(Set(job.keys).subtracting(known).isEmpty, "\(name)")
            #expect(stages.contains(try #require(job.text(of: "stage"))))
            #expect(try #require(job["rules"]?.items).allSatisfy { $0.text(of: "if") != nil })
            #expect(try #require(job["script"]?.items).allSatisfy { $0.text?.isEmpty == false })
        }
    }

    @Test(arguments: ["github-actions.yml", "gitlab-ci.yml"])
    func `hold scripts that a shell can read, and no secret in an argument`(_ name: String) async throws {
        let file = try PipelineFile(name)
        for job in ["check", "release"] {
            let script = try file.script(of: job)
            try await run(.system("bash"), ["-n", "-c", script]).done()
            for line in script.split(separator: "\n") where !line.contains("printf ") {
                for secret in ["$PATCHLINE_TOKEN\"", "$PATCHSIGN_PASSPHRASE", "${PATCHLINE_TOKEN}"] {
                    #expect(!line.contains(secret), "\(line)")
                }
            }
        }
    }

    @Test func `publish a release on GitHub's way`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, commit: "GITHUB_SHA", tag: "GITHUB_REF_NAME")
            try await desk.follow(try PipelineFile("github-actions.yml")) { desk in
                [
                    "secrets.PATCHLINE_TOKEN": desk.secret,
                    "secrets.PATCHLINE_RELEASE_KEY": try read(desk.keys.appending("production.key")),
                    "secrets.PATCHLINE_ENTRY_KEY": try read(desk.keys.appending("entry.key")),
                    "secrets.PATCHSIGN_PASSPHRASE": Desk.passphrase,
                ]
            }
        }
    }

    @Test func `publish a release on GitLab's way`() async throws {
        try await World.with { world in
            let desk = try await Desk(in: world, commit: "CI_COMMIT_SHA", tag: "CI_COMMIT_TAG")
            try await desk.follow(try PipelineFile("gitlab-ci.yml")) { desk in
                [
                    "PATCHLINE_TOKEN_FILE": desk.token.string,
                    "PATCHLINE_RELEASE_KEY": desk.keys.appending("production.key").string,
                    "PATCHLINE_ENTRY_KEY": desk.keys.appending("entry.key").string,
                    "PATCHSIGN_PASSPHRASE": Desk.passphrase, "CI_PROJECT_DIR": desk.repository.string,
                ]
            }
        }
    }

    @Test func `sign with keys of another passphrase, and with a release key offline, by the page's commands`()
        async throws
    {
        try await World.with { world in
            let desk = try await Desk(in: world, commit: "COMMIT", tag: "TAG")
            try await desk.followPage()
        }
    }
}

/// A repository with `app` and `keys`, the secrets of its pipeline, and a server with release 1.
private struct Desk: Sendable {
    static let passphrase = "a passphrase of a pipeline"
    private static let hash = String(repeating: "5e", count: 20)

    private let world: World
    private let site: FilePath
    private let commit: String
    private let tag: String
    let keys: FilePath
    let token: FilePath
    let secret: String
    let repository: FilePath

    init(in world: World, commit: String, tag: String) async throws {
        self.world = world
        (self.commit, self.tag) = (commit, tag)
        (keys, site, repository) = (world.path("keys"), world.path("site"), world.path("repository"))
        let pass = world.path("release.pass")
        try writeSecret(Self.passphrase + "\n", to: pass)
        try await run(
            .patchsign,
            [
                "init", "--app", Workshop.app, "--keys", keys.string, "--bits", "2048", "--passphrase-file",
                pass.string,
                "--online-passphrase-file", pass.string,
            ]
        ).done()
        try await run(
            .patchsrv,
            [
                "init", "--data", site.string, "--trust", keys.string, "--online-key", "\(keys)/online.key",
                "--passphrase-file", pass.string,
            ]
        ).done()
        token = try await world.token(for: site)
        secret = try read(token).trimmingCharacters(in: .whitespacesAndNewlines)
        for file in ["root.json", "targets.json"] {
            try write(try read(keys.appending(file)), to: repository.appending("keys").appending(file))
        }
        try Source(1).put(in: repository.appending("app"))
    }

    /// Runs both jobs of a file twice: a first release, and one that is made from it.
    func follow(
        _ file: PipelineFile,
        with secrets: @Sendable (Desk) throws -> [String: String]
    ) async throws {
        let values = try secrets(self)
        let pass = world.path("release.pass").string
        try await serving(site, ["--passphrase-file", pass]) { devices, url in
            let settings = ["PATCHLINE_SERVER": url, "PATCHLINE_SITE": devices]
            for number in 1...2 {
                let release = try await step(file, "release", as: number, settings, values)
                #expect(release.output.contains("published production \(number) of \(Workshop.app)\n"), "\(release)")
                let base = "made from release 1 of production, which \(url) publishes\n"
                #expect(release.errors.contains(base) == (number == 2), "\(release)")
                try Source(2).put(in: repository.appending("app"))
                let check = try await step(file, "check", as: number, settings, [:])
                #expect(check.output.hasSuffix("no mistakes\n"), "\(check)")
            }
            let history = try await run(
                .patchsrv,
                ["history", "--data", site.string, "--channel", "production", "--json"]
            ).done().output
            #expect(history.components(separatedBy: Self.hash).count == 3 && history.contains("v1.0.2"), "\(history)")
        }
        let arguments = try read(world.path("arguments"))
        #expect(arguments.contains("push") && !arguments.contains(secret) && !arguments.contains(Self.passphrase))
        #expect(!arguments.contains("PRIVATE KEY"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.path("tmp").string).isEmpty, "keys are left")
    }

    /// Runs the page's commands as printed, with the offline machine in the same folder.
    ///
    /// Questions on a terminal are answered by options: the passphrases of `openssl` and `release sign`, and whether to sign.
    func followPage() async throws {
        let page = try read(
            Tool.repository.appending("Sources/Device/Patchline/Patchline.docc/ContinuousIntegration.md")
        )
        func commands(below heading: String) throws -> [String] {
            let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
            let own = section.components(separatedBy: "\n## ")[0]
            return own.matches(of: /(?s)```sh\n(.*?)```/).map { String($0.1) }
        }
        let release = try #require(try commands(below: "Overview").first)
        let copies = try #require(try commands(below: "Set it up").first { $0.contains("openssl pkey") })
            .replacing(
                "-aes-256-cbc",
                with: "-aes-256-cbc -passin env:OLD_PASSPHRASE -passout env:PATCHSIGN_PASSPHRASE"
            )
        let offline = try commands(below: "Keep the release key out of CI")
        try #require(offline.count == 4)
        let sign = offline[2].replacing("--keys Keys", with: "--keys ../Keys --yes --passphrase-env OLD_PASSPHRASE")
        try FileManager.default.copyItem(atPath: keys.string, toPath: world.path("Keys").string)
        try await serving(site, ["--passphrase-file", world.path("release.pass").string]) { _, url in
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            let environment: [Environment.Key: String?] = [
                "PATH": "\(Tool.binaries):\(path)", "HOME": world.folder.string, "COMMIT": Self.hash,
                "PATCHLINE_SERVER": url,
                "PATCHLINE_TOKEN": secret, "OLD_PASSPHRASE": Self.passphrase,
                "PATCHSIGN_PASSPHRASE": "another passphrase",
            ]
            func type(_ command: String) async throws -> Outcome {
                try await run(
                    .system("bash"),
                    ["-euo", "pipefail", "-c", command],
                    environment: environment,
                    in: repository
                ).done()
            }
            _ = try await type(copies + "mv ../release.key ../entry.key .")
            let first = try await type(release)
            #expect(first.output.contains("published production 1 of \(Workshop.app)\n"), "\(first)")
            try FileManager.default.removeItem(atPath: repository.appending("new.release").string)
            try Source(2).put(in: repository.appending("app"))
            let unsigned = try await type(offline[0])
            #expect(unsigned.output.contains("production: 0 of 1 signature"), "\(unsigned)")
            _ = try await type(offline[1])
            let signed = try await type(sign)
            #expect(signed.output.contains("production: 1 of 1 signature by production"), "\(signed)")
            let second = try await type(offline[3])
            #expect(second.output.contains("published production 2 of \(Workshop.app)\n"), "\(second)")
        }
    }

    /// Runs the steps of a job in the repository, with programs that note their arguments.
    private func step(
        _ file: PipelineFile,
        _ job: String,
        as number: Int,
        _ settings: [String: String],
        _ secrets: [String: String]
    ) async throws -> Outcome {
        let programs = world.path("programs")
        try write(
            "#!/bin/bash\nprintf '%s\\n' \"$@\" >>\(world.path("arguments"))\nexec \(Tool.binaries)/patchsign \"$@\"\n",
            to: programs.appending("patchsign")
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: programs.appending("patchsign").string
        )
        try FileManager.default.createDirectory(atPath: world.path("tmp").string, withIntermediateDirectories: true)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        var environment: [Environment.Key: String?] = [
            "PATH": "\(programs):\(path)", "TMPDIR": world.path("tmp").string, .init(stringLiteral: commit): Self.hash,
            .init(stringLiteral: tag): "v1.0.\(number)",
        ]
        let own = try file.environment(of: job) { name in
            settings[name] ?? secrets[name] ?? secrets["secrets.\(name)"] ?? ""
        }
        for (name, value) in own { environment[.init(stringLiteral: name)] = value }
        return try await run(
            .system("bash"),
            ["--noprofile", "--norc", "-eo", "pipefail", "-c", try file.script(of: job)],
            environment: environment,
            in: repository
        ).done()
    }
}

/// One of the files, as both systems read it.
private struct PipelineFile {
    /// A value of a YAML text.
    indirect enum Value: Equatable {
        case text(String)
        case list([Value])
        case map([(key: String, value: Value)])

        static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.text(let left), .text(let right)): left == right
            case (.list(let left), .list(let right)): left == right
            case (.map(let left), .map(let right)):
                left.elementsEqual(right) { $0.key == $1.key && $0.value == $1.value }
            case (.text, _), (.list, _), (.map, _): false
            }
        }

        var keys: [String] { if case .map(let members) = self { members.map(\.key) } else { [] } }
        var items: [Value]? { if case .list(let items) = self { items } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }

        subscript(key: String) -> Value? {
            if case .map(let members) = self { members.first { $0.key == key }?.value } else { nil }
        }

        func text(of key: String) -> String? { self[key]?.text }
    }

    let root: Value

    init(_ name: String) throws {
        let tree = try YAMLTree(try read(Tool.repository.appending("Examples/CI").appending(name)))
        root = Self.value(try #require(tree.root), in: tree)
    }

    private static func value(_ index: Int, in tree: YAMLTree) -> Value {
        switch tree[index].content {
        case .scalar(let scalar): .text(scalar.text)
        case .sequence(let items): .list(items.map { value($0, in: tree) })
        case .mapping(let members):
            .map(members.map { (value($0.key, in: tree).text ?? "", value($0.value, in: tree)) })
        }
    }

    /// The commands of a job in one shell; on GitHub each step has a shell of its own.
    func script(of job: String) throws -> String {
        if let steps = root["jobs"]?[job]?["steps"]?.items {
            return steps.compactMap { $0.text(of: "run") }.map { "(\n\($0)\n)" }.joined(separator: "\n")
        }
        let before = root["default"]?["before_script"]?.items ?? []
        let own = try #require(root[job]?["script"]?.items)
        return (before + own).compactMap(\.text).joined(separator: "\n")
    }

    /// The variables of a job: those that its steps name on GitHub, all that are set on GitLab.
    ///
    /// - Parameter setting: the value of one that the page names.
    func environment(of job: String, _ setting: (String) -> String) throws -> [String: String] {
        guard let steps = root["jobs"]?[job]?["steps"]?.items else {
            let names = [
                "PATCHLINE_SERVER", "PATCHLINE_SITE", "PATCHLINE_TOKEN_FILE", "PATCHLINE_RELEASE_KEY",
                "PATCHLINE_ENTRY_KEY", "PATCHSIGN_PASSPHRASE", "CI_PROJECT_DIR",
            ]
            return Dictionary(uniqueKeysWithValues: names.map { ($0, setting($0)) })
        }
        var found: [String: String] = [:]
        for step in steps {
            for name in step["env"]?.keys ?? [] {
                let expression = try #require(step["env"]?.text(of: name))
                let match = try #require(expression.wholeMatch(of: /\$\{\{ (vars|secrets)\.([A-Z0-9_]+) \}\}/))
                found[name] = setting(String(match.2))
            }
        }
        return found
    }
}
