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

    @Test func `and ours read the tree at every moment in which a new targets key takes over`() async throws {
        try await World.with { world in
            let keys = world.path("keys")
            try await copy(world.shop.keys, to: keys)
            let site = try await world.site(world.shop.site1)
            let before = try await world.site(site, as: "before")
            let rotated = try await world.sign(
                "rotate",
                "targets",
                "--keys",
                keys.string,
                "--unencrypted-keys",
                "--bits",
                "2048"
            )
            #expect(rotated.code == 0, "\(rotated)")
            #expect(rotated.output.contains("targets, by the present root's keys: 1 of 1 signature"), "\(rotated)")
            try await run(.patchsrv, ["trust", "--data", site.string, "--trust", keys.string]).done()
            let next = "metadata/2.root.json"
            // The timestamp is replaced before the root gets its name.
            let between = try await world.site(site, as: "between")
            try await run(.system("rm"), ["\(between.tree)/\(next)"]).done()
            let moments = [
                (before, world.root), (between, world.root), (site, world.root), (site, keys.appending("root.json")),
            ]
            for (number, (place, root)) in moments.enumerated() {
                try await serving(place) { url in
                    let client = try await run(
                        .python,
                        [
                            Tool.script("ngclient.py"), "\(url)/\(Workshop.app)", root.string,
                            world.path("client\(number)").string, "production",
                        ]
                    )
                    #expect(client.code == 0 && client.output.contains("web 1.0.0"), "moment \(number): \(client)")
                    let device = Device(store: world.path("device\(number)"))
                    try await device.create(root: root, server: url)
                    try await device.sync().done()
                }
            }
            // The other way round there is a moment that python-tuf refuses.
            try await run(.system("cp"), ["\(site.tree)/\(next)", "\(before.tree)/\(next)"]).done()
            try await serving(before) { url in
                let arguments = ["\(url)/\(Workshop.app)", world.root.string, world.path("late").string, "production"]
                let refused = try await run(.python, [Tool.script("ngclient.py")] + arguments)
                #expect(refused.code == 3 && refused.output.contains("targets was signed by 0/1 keys"), "\(refused)")
            }
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
