import PatchFormat
import ArgumentParser
import DeviceOutput
import PatchSync
import Patchline
import CommandKit
import Testing

@testable import PatchSyncCommand

@Suite("What patchsync says")
struct PatchSyncTranscripts {
    @Test func `of each error stands in its transcript, with the code with which it ends`() throws {
        var transcript = Transcript(
            "patchsync-errors",
            about: "What patchsync says of each error, what it advises, and the code with which it ends."
        )
        let server = RunningServer(process: 4_711, port: 8_081, host: .address)
        transcript.section("the device", SyncError.samples.map { Failure($0).transcript })
        transcript.section("its pages", LocalServerError.samples.map { Failure($0).transcript })
        let rules = try ProxyOptions.parse((0...100).flatMap { ["--proxy", "/\($0)=https://example.com"] })
        var others = [Failure.otherLaunch, PostponeCommand.refusal(limit: .seconds(7_200))]
        do throws(Failure) { _ = try rules.settings() } catch { others.append(error) }
        transcript.section("other things", others.map(\.transcript))
        transcript.section("a server that runs already", [Failure(.portInUse(8_081), servers: [server]).transcript])
        try transcript.check()
    }

    @Test func `to a command line that it does not understand stands in its transcript`() throws {
        var transcript = Transcript(
            "patchsync-usage",
            about: "Command lines that patchsync does not understand, and the first line of its answer."
        )
        transcript.section("command lines", program.answers(Self.misused))
        try transcript.check()
    }

    @Test func `of its JSON stands in its transcript`() throws {
        var transcript = Transcript("patchsync-schema", about: "What patchsync schema prints, by its argument.")
        for schema in OutputSchema.allCases { transcript.section(schema.rawValue, [schema.text]) }
        try transcript.check()
    }

    private let program = CommandTranscript(program: PatchSyncProgram.self, name: "patchsync")

    private static let misused = [
        "syncc",
        "sync --frob",
        "sync --retries -1",
        "switch --channel -x",
        "test-script a.js --store device",
        "test-script a.txt",
        "tuf init",
        "tuf init --metadata-dir m",
        "tuf refresh --metadata-dir m",
        "tuf download --metadata-dir m --metadata-url http://127.0.0.1",
        "tuf refresh --metadata-dir m --metadata-url ftp://127.0.0.1",
        "init --store device --server https://example.com",
        "init --store device --server ftp://example.com --root root.json",
        "init --store device --server https://example.com --root root.json --channel Beta",
        "init --store device --server https://example.com --root root.json --mirror ftp://example.com",
        "init --store device --server https://example.com --root root.json --pin sha256/x",
        "confirm --store device",
        "verify --store device --all",
        "sync --store device --deadline 0",
        "sync --store device --stall-timeout 0",
        "sync --store device --limit-rate 999B",
        "sync --store device --retries 2000",
        "sync --store device --app-version 1.x",
        "doctor --store device --within 0",
        "doctor --store device --config patchsync.yaml",
        "sync --store device --dry-run --app-build 7",
        "sync --store device --no-metered --allowance 20kB",
        "set --store device --metered --allowance 20",
        "set --store device --allowance 2TB",
        "set --store device --limit-rate 999B",
        "set --store device --reserve 2TB",
        "set --store device --user a --user-file b",
        "set --store device --user-file - --data-file -",
        "set --store device --keep 11",
        "set --store device --host own --no-own-host",
        "set --store device --data lang",
        "set --store device --data l!ng=de",
        "set --store device --data lang==de",
        "set --store device --platform linux",
        "set --store device --platform li nux --compatibility 5e",
        "set --store device --app-version x",
        "set --store device --unset l!ng",
        "set --store device --app-build a/b",
        "switch --store device --channel Beta",
        "switch --store device --server ftp://example.com",
        "serve --store device --origin example.com",
        "serve --store device --header x",
        "serve --store device --type html",
        "serve --store device --charset utf/8",
        "serve --store device --proxy /api",
        "set --store device" + String(repeating: " --mirror https://a", count: 17),
        "serve --store device --proxy-timeout 0",
        "serve --store device --port 70000",
        "serve --store device --startup-timeout 0",
        "serve --store device --bundle a/b",
        "serve --store device --sync-every 0",
        "serve --store device --parameters-every -1",
        "serve --store device --parameters-every=-1",
        "serve --store device --no-sync --sync-every 10",
        "serve --store device --uploads . --open",
        "sync --store device --app-build a/b",
    ]
}
