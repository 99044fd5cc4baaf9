import SystemPackage
import Testing

/// `Earlier/README.md` describes the archives.
@Suite("A folder of an earlier program")
struct EarlierFolderTests {
    private static let archives = ["2026-11-28"]

    /// Runs `body` with the folders of an archive, and with what makes its third release.
    private func unpacked(_ archive: String, _ body: @Sendable (Earlier) async throws -> Void) async throws {
        try await World.with { world in
            let file = FilePath(#filePath).removingLastComponent().appending("Earlier/\(archive).tar.xz")
            try await run(.system("tar"), ["-xJpf", file.string, "-C", world.folder.string]).done()
            try await body(Earlier(world: world))
        }
    }

    @Test(arguments: archives)
    func `of a server is whole, keeps its tokens, notes, parameters, answers and dial, and takes the next release`(
        _ archive: String
    ) async throws {
        try await unpacked(archive) { earlier in
            try await earlier.expectWhole("site")
            for (command, words) in [
                (["token", "list"], ["everything", "com.example.earlier/production=publisher"]),
                (["history", "--channel", "production"], ["First", "The first one."]),
                (["parameters", "show", "--channel", "production"], ["hello", "20"]),
                (["answer", "list", "--channel", "production"], ["hold"]),
                (["dial", "--channel", "production"], ["60%"]),
            ] {
                let shown = try await earlier.server(command).done().output
                #expect(words.allSatisfy(shown.contains), "\(shown)")
            }
            try await earlier.publish()
            try await earlier.expectWhole("site")
        }
    }

    @Test(arguments: archives)
    func `that is a backup is restored`(_ archive: String) async throws {
        try await unpacked(archive) { earlier in
            let (backup, restored) = (earlier.world.path("backup"), earlier.world.path("restored"))
            try await run(.patchsrv, ["restore", backup.string, "--data", restored.string]).done()
            try await earlier.expectWhole("restored")
        }
    }

    /// Version 1 of the state holds its selections whole.
    @Test(arguments: archives, [1, 2])
    func `of a device goes on with its trial, confirms it, and is updated`(_ archive: String, state: Int) async throws {
        try await unpacked(archive) { earlier in
            let device = Device(store: earlier.world.path("store"))
            if state == 1 { try await earlier.putInPlace(earlier.world.path("state-v1.json"), in: device) }
            let status = try await device("status").done().output
            #expect(status.contains("a trial is running, launch 0") && status.contains("(release 2)"), "\(status)")
            try await device.expectWhole(2)
            try await earlier.launch(device, expecting: 2)
            try await earlier.publish()
            try await serving(earlier.world.path("site")) { url in
                try device.ask(url)
                try await device.sync().done()
            }
            try await earlier.launch(device, expecting: 3)
            let settled = try await device("status").done().output
            #expect(settled.contains(": settled"), "\(settled)")
            try await device.expectWhole(3)
        }
    }
}

/// An unpacked archive.
private struct Earlier: Sendable {
    let world: World

    private var site: String { world.path("site").string }

    func server(_ command: [String]) async throws -> Outcome {
        try await run(.patchsrv, command + ["--data", site])
    }

    func expectWhole(_ folder: String, location: SourceLocation = #_sourceLocation) async throws {
        let check = try await run(.patchsrv, ["check", "--data", world.path(folder).string])
        let words = #/com\.example\.earlier: whole\naudit log: \d+ entries, whole/#
        #expect(check.code == 0 && check.output.contains(words), "\(check)", sourceLocation: location)
    }

    /// Signs and publishes the third release.
    func publish() async throws {
        try await world.release(
            world.path("source3"),
            to: "release3",
            previous: world.path("release2"),
            keys: world.path("keys")
        ).done()
        try await world.publish(world.path("release3"), to: world.path("site"), optimizing: true).done()
    }

    func putInPlace(_ state: FilePath, in device: Device) async throws {
        let channel = device.store.appending("channels/production")
        let newer = ["selections", "state.previous.json"].map { channel.appending($0).string }
        try await run(.system("rm"), ["-r"] + newer).done()
        try await run(.system("cp"), [state.string, channel.appending("state.json").string]).done()
    }

    /// Launches the pending or trial version, and confirms it.
    func launch(_ device: Device, expecting number: Int) async throws {
        try await device.serving { page in
            let shown = try await page.show()
            #expect(shown.status == 200 && shown.body.contains("<title>release \(number)</title>"), "\(shown)")
            try await page.confirm()
        }
    }
}
