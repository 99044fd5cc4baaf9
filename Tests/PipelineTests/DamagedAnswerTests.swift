import Testing

/// A device that runs release 1 asks for release 2, and one kind of file comes wrong from the server.
@Suite("An answer that comes damaged")
struct DamagedAnswerTests {
    struct Damage: CustomTestStringConvertible, Sendable {
        let mode: String
        let part: String
        let code: Int32
        let error: String

        init(_ mode: String, _ part: String, _ code: Int32, _ error: String) {
            (self.mode, self.part, self.code, self.error) = (mode, part, code, error)
        }

        var testDescription: String { "\(mode) \(part)" }
    }

    /// Roles and the list: nothing of the release is taken.
    private static let shared = [
        Damage("truncated", "timestamp.json", 4, "timestamp"),
        Damage("short", "timestamp.json", 5, "metadata/timestamp.json: the answer ended early"),
        Damage("oversized", "timestamp.json", 3, "metadata/timestamp.json: larger than the allowed 16384 bytes"),
        Damage("endless", "timestamp.json", 3, "metadata/timestamp.json: larger than the allowed 16384 bytes"),
        Damage("flipped", "timestamp.json", 3, "timestamp: 0 valid signatures of 1 needed"),
        Damage("404", "timestamp.json", 3, "metadata/timestamp.json: not found on the server (404)"),
        Damage("500", "timestamp.json", 5, "metadata/timestamp.json: the server answered 500"),
        Damage(
            "redirect",
            "timestamp.json",
            3,
            "metadata/timestamp.json: the server redirects to http://127.0.0.1:9/, which is not followed"
        ),
        Damage(
            "000",
            "timestamp.json",
            3,
            "metadata/timestamp.json: the server's answer has the invalid status 000"
        ),
        Damage("000", "root.json", 3, "metadata/2.root.json: the server's answer has the invalid status 000"),
        Damage("500", "root.json", 5, "metadata/2.root.json: the server answered 500"),
        Damage("truncated", "snapshot.json", 3, "snapshot: "),
        Damage("short", "snapshot.json", 5, "snapshot.json: the answer ended early"),
        Damage("oversized", "snapshot.json", 3, "snapshot.json: larger than the allowed "),
        Damage("endless", "snapshot.json", 3, "snapshot.json: larger than the allowed "),
        Damage("flipped", "snapshot.json", 3, "snapshot: its sha256 is not the signed one"),
        Damage("404", "snapshot.json", 3, "snapshot.json: not found on the server (404)"),
        Damage("000", "snapshot.json", 3, "snapshot.json: the server's answer has the invalid status 000"),
        Damage("500", "snapshot.json", 5, "snapshot.json: the server answered 500"),
        Damage("truncated", "production.json", 3, "production: "),
        Damage("short", "production.json", 5, "production.json: the answer ended early"),
        Damage("oversized", "production.json", 3, "production.json: larger than the allowed "),
        Damage("endless", "production.json", 3, "production.json: larger than the allowed "),
        Damage("flipped", "production.json", 3, "production: its sha256 is not the signed one"),
        Damage("404", "production.json", 3, "production.json: not found on the server (404)"),
        Damage("500", "production.json", 5, "production.json: the server answered 500"),
        Damage("truncated", "patchlist.json", 3, "production/patchlist.json: "),
        Damage("short", "patchlist.json", 5, "patchlist.json: the answer ended early"),
        Damage("oversized", "patchlist.json", 3, "patchlist.json: larger than the allowed "),
        Damage("endless", "patchlist.json", 3, "patchlist.json: larger than the allowed "),
        Damage("flipped", "patchlist.json", 3, "production/patchlist.json: its sha256 is not the signed one"),
        Damage("404", "patchlist.json", 3, "patchlist.json: not found on the server (404)"),
        Damage("500", "patchlist.json", 5, "patchlist.json: the server answered 500"),
    ]

    /// All damages of a file come one after the other, for none of them leaves anything behind.
    @Test(arguments: ["timestamp.json", "root.json", "snapshot.json", "production.json", "patchlist.json"])
    func `ends the sync when it is a role or the list, and what is installed runs on`(_ part: String) async throws {
        let damages = Self.shared.filter { $0.part == part }
        try #require(!damages.isEmpty)
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving { page in
                    for damage in damages {
                        let before = try await StoreDigest(of: device.store)
                        try server.turn(damage.mode, for: damage.part)
                        let refusal = try await device.sync()
                        #expect(refusal.code == damage.code, "\(damage) \(refusal)")
                        #expect(refusal.text.contains(damage.error), "\(damage) \(refusal)")
                        let after = try await StoreDigest(of: device.store)
                        #expect(after.installed == before.installed, "\(damage) \(after)")
                        #expect(after.lostObjects(since: before) == [], "\(damage)")
                        if ["timestamp.json", "root.json"].contains(part) {
                            #expect(after == before, "\(damage) \(after)")
                        }
                        try await page.expect(release: 1)
                    }
                    try await device.expectWhole(1)
                    try server.beHonest()
                    try await device.sync().done()
                    try await device.expectWhole(2)
                }
            }
        }
    }

    /// A patch's own files: that patch stays what it was, the others are taken (P10).
    @Test(arguments: [
        Damage(
            "truncated",
            "manifest.json",
            3,
            "web 2.0.0: web 2.0.0 manifest: the size does not match its entry"
        ),
        Damage("short", "manifest.json", 9, "manifest.json: the answer ended early"),
        Damage("oversized", "manifest.json", 3, "web 2.0.0 manifest: the size does not match its entry"),
        Damage("endless", "manifest.json", 3, "web 2.0.0 manifest: the size does not match its entry"),
        Damage(
            "flipped",
            "manifest.json",
            3,
            "web 2.0.0: web 2.0.0 manifest: the md5 does not match its entry"
        ),
        Damage("404", "manifest.json", 3, "manifest.json: not found on the server (404)"),
        Damage("000", "manifest.json", 3, "manifest.json: the server's answer has the invalid status 000"),
        Damage("500", "manifest.json", 9, "manifest.json: the server answered 500"),
        Damage(
            "truncated",
            "manifest.sigs",
            3,
            "web 2.0.0 manifest.sigs: the size does not match its entry"
        ),
        Damage("short", "manifest.sigs", 9, "manifest.sigs: the answer ended early"),
        Damage(
            "oversized",
            "manifest.sigs",
            3,
            "web 2.0.0 manifest.sigs: the size does not match its entry"
        ),
        Damage(
            "endless",
            "manifest.sigs",
            3,
            "web 2.0.0 manifest.sigs: the size does not match its entry"
        ),
        Damage(
            "flipped",
            "manifest.sigs",
            3,
            "web 2.0.0 manifest.sigs: the sha256 does not match its entry"
        ),
        Damage("404", "manifest.sigs", 3, "manifest.sigs: not found on the server (404)"),
        Damage("500", "manifest.sigs", 9, "manifest.sigs: the server answered 500"),
        Damage("truncated", "/objects/", 3, "the size does not match its entry"),
        Damage("short", "/objects/", 9, "the answer ended early"),
        Damage("longer", "/objects/", 3, "the size does not match its entry"),
        Damage("oversized", "/objects/", 3, "the size does not match its entry"),
        Damage("endless", "/objects/", 3, "the size does not match its entry"),
        Damage("flipped", "/objects/", 3, "does not match its entry"),
        Damage("404", "/objects/", 3, "not found on the server (404)"),
        Damage("000", "/objects/", 3, "the server's answer has the invalid status 000"),
        Damage("500", "/objects/", 9, "the server answered 500"),
    ])
    func `refuses that patch alone when it is a patch's own file`(_ damage: Damage) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await device.serving { page in
                    let before = try await StoreDigest(of: device.store)
                    try server.turn(damage.mode, for: damage.part)
                    let refusal = try await device.sync()
                    #expect(refusal.code == damage.code, "\(refusal)")
                    #expect(refusal.text.contains(damage.error), "\(refusal)")
                    // Every file of every patch is an object.
                    if damage.part == "/objects/" {
                        let after = try await StoreDigest(of: device.store)
                        #expect(after.installed == before.installed, "\(after)")
                        #expect(after.lostObjects(since: before) == [])
                    } else {
                        #expect(
                            refusal.output.contains(#/fix +2 +another version, downloaded.* Update → UnInstall/#),
                            "\(refusal)"
                        )
                    }
                    try await page.expect(release: 1)
                    try await device.expectWhole(1)
                    try server.beHonest()
                    let healed = try await device.sync()
                    #expect(healed.code == 0, "\(healed)")
                    try await device.expectWhole(2)
                }
            }
        }
    }

    /// Roles that only a first sync or a rotation brings.
    @Test(arguments: [
        Damage("truncated", "1.targets.json", 3, "targets: "),
        Damage("short", "1.targets.json", 5, "metadata/1.targets.json: the answer ended early"),
        Damage("oversized", "1.targets.json", 3, "metadata/1.targets.json: larger than the allowed "),
        Damage("endless", "1.targets.json", 3, "metadata/1.targets.json: larger than the allowed "),
        Damage("flipped", "1.targets.json", 3, "targets: its sha256 is not the signed one"),
        Damage("404", "1.targets.json", 3, "metadata/1.targets.json: not found on the server (404)"),
        Damage("truncated", "2.root.json", 4, "root"),
        Damage("short", "2.root.json", 5, "metadata/2.root.json: the answer ended early"),
        Damage("oversized", "2.root.json", 3, "metadata/2.root.json: larger than the allowed 512000 bytes"),
        Damage("endless", "2.root.json", 3, "metadata/2.root.json: larger than the allowed 512000 bytes"),
        Damage("flipped", "2.root.json", 3, "root: 0 valid signatures of 1 needed"),
        Damage("500", "2.root.json", 5, "metadata/2.root.json: the server answered 500"),
    ])
    func `leaves a new device with nothing, until it comes whole`(_ damage: Damage) async throws {
        try await World.with { world in
            try await world.withServer(of: try await world.forged("root_rotation")) { server in
                let device = try await world.newDevice(server: server.url)
                let before = try await StoreDigest(of: device.store)
                try server.turn(damage.mode, for: damage.part)
                let refusal = try await device.sync()
                #expect(refusal.code == damage.code && refusal.text.contains(damage.error), "\(refusal)")
                let after = try await StoreDigest(of: device.store)
                #expect(after.installed == before.installed)
                if damage.part == "2.root.json" { #expect(after == before, "\(after)") }
                try server.beHonest()
                try await device.sync().done()
                try await device.expectWhole(2)
            }
        }
    }

    /// A dial only narrows, and these entries do not require one.
    @Test(arguments: ["dial.json", "/dial/"])
    func `is as good as none when it is the dial`(_ part: String) async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                for mode in ["truncated", "endless", "flipped", "404", "500", "000"] {
                    let device = try await world.newDevice(server: server.url, as: mode)
                    try server.turn(mode, for: part)
                    try await device.sync().done()
                    try await device.expectWhole(2)
                }
            }
        }
    }
}
