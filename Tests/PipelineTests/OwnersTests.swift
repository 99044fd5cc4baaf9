import Glibc
import Subprocess
import SystemPackage
import Testing

/// Root works on the folders of services, whose users must be able to go on afterwards.
@Suite("A folder of another user", .enabled(if: getuid() == 0, "another user's folder is root's to make"))
struct OwnersTests {
    private static let user = 65_534

    /// Gives a folder to the other user, who can pass through those above it.
    private func give(_ folder: FilePath, in world: World) async throws {
        let line = "chown -R \(Self.user):\(Self.user) \"$1\" && chmod 700 \"$1\" && chmod a+x \"$2\" \"$3\""
        try await run(.system("bash"), ["-c", line, "give", folder.string, world.folder.string, "\(Workshop.folder)"])
            .done()
    }

    /// The files below it that are not its owner's.
    private func foreign(in folder: FilePath) async throws -> String {
        try await run(.system("find"), [folder.string, "!", "-user", "\(Self.user)"]).done().output
    }

    /// Runs a copy of a program as the other user.
    private func asOther(_ program: String, _ arguments: [String], in world: World) async throws -> Outcome {
        let copied = world.path(program)
        try await copy(Tool.binaries.appending(program), to: copied)
        let who = ["--reuid", "\(Self.user)", "--regid", "\(Self.user)", "--clear-groups", copied.string]
        return try await run(.system("setpriv"), who + arguments, in: "/")
    }

    @Test func `is worked on by root's commands as its owner would, who can go on with a store`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site2) { server in
                let device = try await world.settledDevice(server: server.url)
                try await give(device.store, in: world)
                try await device("set", "--metered").done()
                try await device.sync().done()
                try await device("postpone", "2h").done()
                try await device("postpone", "--end").done()
                try await device.serving { page in _ = try await page.release() }
                #expect(try await foreign(in: device.store).isEmpty)
                let status = try await asOther("patchsync", ["status", "--store", device.store.string], in: world)
                #expect(status.code == 0, "\(status)")
                let sync = try await asOther("patchsync", ["sync", "--store", device.store.string], in: world)
                #expect(sync.code == 0, "\(sync)")
                // A new store in a folder of the service, too.
                let made = Device(store: device.store.appending("new"))
                let root = world.path("root.json")
                try await copy(world.root, to: root)
                try await run(.system("chmod"), ["a+r", root.string]).done()
                try await made.create(root: root, server: server.url)
                #expect(try await foreign(in: device.store).isEmpty)
            }
        }
    }

    @Test func `says as whom root's command acts where its owner may not read what the command names`() async throws {
        try await World.with { world in
            let folder = world.path("service")
            try await run(.system("mkdir"), [folder.string]).done()
            try await give(folder, in: world)
            let root = world.path("secret-root.json")
            try await copy(world.root, to: root)
            try await run(.system("chmod"), ["600", root.string]).done()
            let made = try await Device(store: folder.appending("shop"))(
                "init",
                "--root",
                root.string,
                "--server",
                "http://127.0.0.1:9"
            )
            #expect(made.code == 6, "\(made)")
            #expect(made.errors.contains("error: cannot read \(root): permission denied\n"), "\(made)")
            #expect(
                made.errors.contains(
                    "this command acts as nobody, who owns \(folder)/shop: the user nobody needs permission"
                ),
                "\(made)"
            )
            #expect(try await run(.system("ls"), ["-A", folder.string]).output.isEmpty)
        }
    }

    @Test func `is published to by root as its owner would`() async throws {
        try await World.with { world in
            let site = try await world.site(world.shop.site1)
            let release = world.path("release")
            try await copy(world.shop.release(2), to: release)
            try await run(.system("chmod"), ["-R", "a+rX", release.string]).done()
            try await give(site, in: world)
            try await world.publish(release, to: site).done()
            try await run(
                .patchsrv,
                [
                    "dial", "--data", site.string, "--channel", "production", "--pause", "web@2.0.0", "--reason",
                    "a test",
                ]
            ).done()
            try await run(.patchsrv, ["gc", "--data", site.string]).done()
            #expect(try await foreign(in: site).isEmpty)
            let again = try await asOther("patchsrv", ["refresh", "--data", site.string], in: world)
            #expect(again.code == 0, "\(again)")
        }
    }

    @Test func `in which root left a file is named by the doctors, with the command that gives it back`() async throws {
        try await World.with { world in
            try await world.withServer(of: world.shop.site1) { server in
                let device = try await world.settledDevice(server: server.url)
                try await give(device.store, in: world)
                let state = device.store.appending("channels").appending("production").appending("state.json")
                try await run(.system("bash"), ["-c", "chown root:root '\(state)' && chmod 600 '\(state)'"]).done()
                let doctor = try await device("doctor")
                #expect(doctor.code == 3, "\(doctor)")
                let finding = "fault  owners: 1 file of another user than the folder's, such as \(state): "
                #expect(doctor.output.contains(finding), "\(doctor)")
                #expect(
                    doctor.output.contains("hint: as root: chown -Rh nobody:nogroup \(device.store)\n"),
                    "\(doctor)"
                )
                // What was confirmed runs meanwhile, and the first change makes the state the owner's again.
                let status = try await asOther("patchsync", ["status", "--store", device.store.string], in: world)
                #expect(status.code == 0 && status.output.contains("1.0.0"), "\(status)")
                #expect(status.errors.contains("hint: as root: chown nobody \(state)\n"), "\(status)")
                let sync = try await asOther("patchsync", ["sync", "--store", device.store.string], in: world)
                #expect(sync.code == 0, "\(sync)")
                let site = try await world.site(world.shop.site1, as: "served")
                try await give(site, in: world)
                let labels = site.appending("tree")
                try await run(.system("chown"), ["root:root", labels.string]).done()
                let server = try await run(.patchsrv, ["doctor", "--data", site.string])
                #expect(server.output.contains("fault  owners: 1 file of another user than the folder's"), "\(server)")
            }
        }
    }
}
