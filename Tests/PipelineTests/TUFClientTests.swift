import SystemPackage
import Testing

@Suite("python-tuf's own client")
struct TUFClientTests {
    @Test func `reads the tree from patchsrv and downloads list, manifests and columns`() async throws {
        try await World.with { world in
            let client = try await world.client(of: world.shop.site2)
            #expect(client.code == 0, "\(client)")
            #expect(
                client.output == """
                    fix 2
                    fix 1
                    tip 1
                    web 2.0.0: 5 assets, column of 1326 bytes
                    web 1.0.0: 5 assets, column of 1326 bytes

                    """,
                "\(client)"
            )
        }
    }

    @Test(arguments: [
        ("other_key|timestamp", "refused: UnsignedMetadataError: timestamp was signed by 0/1 keys"),
        ("other_key|production", "refused: UnsignedMetadataError: production was signed by 0/1 keys"),
        ("list_role_unsigned", "refused: LengthOrHashMismatchError"),
        ("manifest_digest_behind_role", "refused: LengthOrHashMismatchError"),
        ("expired|timestamp", "refused: ExpiredMetadataError: timestamp.json is expired"),
        ("expired|production", "refused: ExpiredMetadataError: New production is expired"),
    ])
    func `refuses a tampered or expired tree`(_ edit: String, _ error: String) async throws {
        try await World.with { world in
            let client = try await world.client(of: try await world.forged(edit))
            #expect(client.code == 3 && client.output.contains(error), "\(client)")
        }
    }
}

extension World {
    fileprivate func client(of site: FilePath) async throws -> Outcome {
        let arguments = [root.string, path("client").string, "production"]
        return try await serving(site) { url in
            try await run(.python, [Tool.script("ngclient.py"), "\(url)/\(Workshop.app)"] + arguments)
        }
    }
}
