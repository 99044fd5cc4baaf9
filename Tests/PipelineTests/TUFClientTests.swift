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

    @Test func `refuses a tree that went back`() async throws {
        try await World.with { world in
            let newer = try await world.client(of: world.shop.site2)
            #expect(newer.code == 0, "\(newer)")
            let older = try await world.client(of: world.shop.site1)
            #expect(
                older.code == 3
                    && older.output.contains("refused: BadVersionNumberError: New timestamp version 2 must be >= 3"),
                "\(older)"
            )
        }
    }

    @Test func `and ours, on the same trees, agree`() async throws {
        try await World.with { world in
            let list = world.path("files/production%2Fpatchlist.json")
            let first = try await world.plainClient(of: world.shop.site2)
            #expect(first.code == 0, "\(first)")
            let list2 = try read(list)
            #expect(list2.contains(#""version":"2.0.0""#))
            let older = try await world.plainClient(of: world.shop.site1)
            #expect(
                older.code == 1
                    && older.errors.contains("timestamp: version 2 is older than version 3, which is already trusted"),
                "\(older)"
            )
            #expect(try read(list) == list2)
        }
    }
}

extension World {
    /// `patchsync tuf`, as the public suite calls it.
    fileprivate func plainClient(of site: FilePath) async throws -> Outcome {
        let metadata = ["tuf", "--metadata-dir", path("metadata").string]
        if try await run(.system("test"), ["-e", path("metadata").string]).code != 0 {
            try await run(.patchsync, metadata + ["init", root.string]).done()
        }
        return try await serving(site) { [folder] url in
            let base = "\(url)/\(Workshop.app)"
            let what = ["--target-name", "production/patchlist.json", "--target-dir", folder.appending("files").string]
            return try await run(
                .patchsync,
                metadata + ["--metadata-url", "\(base)/metadata"] + what
                    + ["--target-base-url", "\(base)/targets", "download"]
            )
        }
    }

    fileprivate func client(of site: FilePath) async throws -> Outcome {
        let arguments = [root.string, path("client").string, "production"]
        return try await serving(site) { url in
            try await run(.python, [Tool.script("ngclient.py"), "\(url)/\(Workshop.app)"] + arguments)
        }
    }
}
