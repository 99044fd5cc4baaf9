import ArgumentParser
import CommandSupport
import NIOConcurrencyHelpers
import PatchFormat
import PatchRelease
import PatchStore
import ReleaseClient
import ReleaseFolder
import SystemPackage
import Terminal

/// `patchsign push RELEASE`: to a release service.
struct Push: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Uploads a signed release to a server and has it published.",
        discussion: """
            patchsign push v2.release --server https://patches.example.com --token-file ci.token
            patchsign push v2.release --server https://patches.example.com --label "spring sale" --commit "$COMMIT"

            Only what the server lacks is sent, six parts at a time. A push that was interrupted goes on where it stopped, \
            to the byte. The server verifies everything before anything of it can be seen. A release that has fewer \
            signatures than its channel needs is kept as a draft; whoever signs it next pushes it again, with or without \
            its objects.

            The token is read from --token-file or from PATCHLINE_TOKEN, is never printed, and never travels without TLS \
            except to this machine itself (or with --insecure-http).

            Exit codes: 0 published, kept as a draft, or published before; 3 refused: the token, or a rule that the \
            release breaks; 4 the release is malformed; 5 no connection, or a server in trouble; 6 disk; 8 the channel \
            moved on since the release was made, or another draft waits; 64 usage.
            """
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @OptionGroup var server: ServerOptions
    @OptionGroup var notes: NotesOptions

    @Flag(help: "Print the server's answer, and what was sent, as JSON.")
    var json = false

    func run() async throws {
        try await ending(json: json) { () async throws(Failure) in
            let folder = FilePath(argument: release)
            let signed = try signing { () throws(SigningError) in try SignedRelease(reading: folder, files: DiskFiles())
            }
            let progress = PushProgress()
            let report = try await server.asking { client throws(ServiceError) in
                try await ReleasePush(signed, to: client, files: DiskFiles()) { progress.show($0) }.run(
                    notes: notes.json
                )
            }
            write(report)
        }
    }

    private func write(_ report: PushReport) {
        let console = Console.standardOutput
        guard !json else { return console.line(report.json.pretty()) }
        let what = "\(report.channel) \(report.roleVersion) of \(report.app)"
        if report.sent.parts > 0 {
            console.line("sent \(Words.count(report.sent.parts, "part")), \(Words.bytes(report.sent.bytes))")
        }
        switch report.outcome {
        case .published: console.line("published \(what)")
        case .drafted(let signatures, let threshold):
            console.line("kept as a draft, \(signatures) of \(Words.count(threshold, "signature")): \(what)")
            console.line(
                "next: another key holder runs `patchsign pull`, `patchsign release sign` and `patchsign push`"
            )
        case .alreadyPublished: console.line("\(what) is published already")
        }
    }
}

extension PushReport {
    /// The server's answer, and what travelled.
    fileprivate var json: JSON {
        var members = answer.object ?? JSONObject()
        members["sentParts"] = .integer(sent.parts)
        members["sentBytes"] = .integer(sent.bytes)
        return .object(members)
    }
}

/// What is on its way, as a line of progress on standard error.
private final class PushProgress: Sendable {
    private let report = NIOLockedValueBox<ProgressReport?>(nil)

    func show(_ event: ReleasePush.Event) {
        switch event {
        case .began(let parts, let bytes):
            let report = ProgressReport("Sending \(Words.count(parts, "part"))", total: bytes, unit: .bytes)
            self.report.withLockedValue { $0 = report }
        case .sent(let bytes): report.withLockedValue(\.self)?.advance(by: bytes)
        case .ended:
            report.withLockedValue(\.self)?.finish()
            report.withLockedValue { $0 = nil }
        case .publishing:
            if Console.standardError.isTerminal { Console.standardError.line("The server verifies the release") }
        }
    }
}
