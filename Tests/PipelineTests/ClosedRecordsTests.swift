import Foundation
import SystemPackage
import Testing

/// A copy of a server's folder that leaves out SQLite's log has every entry once no program has the folder open.
@Suite("A server's records")
struct ClosedRecordsTests {
    @Test func `are one file after each command that writes them, after one that fails, and after serve`() async throws
    {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            func expectOneFile(_ command: String) throws {
                let names = try FileManager.default.contentsOfDirectory(atPath: site.string)
                #expect(names.filter { $0.hasPrefix("records.sqlite") } == ["records.sqlite"], "\(command)")
            }
            func patchsrv(_ arguments: [String], endsWith code: Int32 = 0) async throws {
                let outcome = try await run(.patchsrv, arguments + ["--data", site.string])
                #expect(outcome.code == code, "\(outcome)")
                try expectOneFile(arguments.joined(separator: " "))
            }
            let token = ["token", "new", "ci", "--grant", "*=viewer", "--output", world.path("ci.token").string]
            try await patchsrv(token)
            try await patchsrv(["token", "new", "ci", "--grant", "*=viewer"], endsWith: 8)
            try await patchsrv(["token", "revoke", "ci"])
            try await patchsrv(["publish", world.shop.release(2).string])
            try await patchsrv(["rollout", "web", "50%", "--channel", "production"])
            try await patchsrv(["rollout", "nothere", "50%", "--channel", "production"], endsWith: 3)
            try await patchsrv(["parameters", "set", "--channel", "production", "banner=Sale"])
            try await patchsrv(["refresh"])
            try await patchsrv(["audit", "list"])
            _ = try await serving(site) { _ in }
            try expectOneFile("serve")
        }
    }
}
