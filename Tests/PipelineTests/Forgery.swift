import SystemPackage
import Testing

/// One break in a published tree whose roles are signed again, and what is said of it.
struct Forgery: CustomTestStringConvertible, Sendable {
    /// What a device that runs release 1 may still take of release 2.
    enum Taken: Sendable {
        case nothing
        /// All but the script `fix`.
        case allButFix
        /// All but the bundle `web`.
        case allButWeb
    }

    /// For Judges/forge.py: a function of it and its arguments.
    let edit: String
    let code: Int32
    /// What patchsync says.
    let error: String
    /// What check_tree.py says.
    let judge: String

    init(_ edit: String, _ error: String, judge: String, code: Int32 = 3) {
        (self.edit, self.code, self.error, self.judge) = (edit, code, error, judge)
    }

    /// Both name the entry first.
    init(_ edit: String, _ entry: String, _ error: String, judge: String, code: Int32 = 3) {
        self.init(edit, "\(entry): \(error)", judge: "\(entry): \(judge)", code: code)
    }

    var testDescription: String { edit }

    /// The device says the error and ends with the code, takes what it may, and runs release 1 on.
    func expect(taken: Taken) async throws {
        try await World.with { world in
            let site = try await world.forged(edit)
            let findings = try await world.judge(site)
            #expect(findings.code == 1 && findings.text.contains(judge), "\(findings)")
            try await world.withServer(of: site) { server in
                let device = try await world.settledDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                let refusal = try await device.sync()
                #expect(refusal.code == code, "\(refusal)")
                #expect(refusal.text.contains(error), "\(refusal)")
                let after = try await StoreDigest(of: device.store)
                #expect(after.lostObjects(since: before) == [])
                switch taken {
                case .nothing:
                    #expect(after.installed == before.installed, "\(refusal)")
                case .allButFix:
                    #expect(!refusal.output.contains(#/fix +2 +.*UnInstall/#), "\(refusal)")
                    #expect(
                        refusal.output.contains(#/web +2\.0\.0 +another version, downloaded.* Update → UnInstall/#),
                        "\(refusal)"
                    )
                case .allButWeb:
                    #expect(
                        refusal.output.contains(#/fix +2 +another version, downloaded.* Update → UnInstall/#),
                        "\(refusal)"
                    )
                    #expect(!refusal.output.contains(#/web +2\.0\.0 +.*UnInstall/#), "\(refusal)")
                }
                try await device.expectWhole(1)
                try await device.serving { page in
                    let shown = try await page.release()
                    #expect(shown == (taken == .allButFix ? 2 : 1))
                }
            }
        }
    }
}

extension World {
    /// What check_tree.py finds in the published tree of a server's folder.
    func judge(_ site: FilePath, root: FilePath? = nil) async throws -> Outcome {
        try await run(.python, [Tool.checkTree.string, site.tree.string, (root ?? self.root).string])
    }
}
