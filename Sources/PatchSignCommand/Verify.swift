import ArgumentParser
import CommandSupport
import PatchFormat
import PatchRelease
import PatchStore
import ReleaseFolder
import SystemPackage
import Terminal

/// `patchsign verify`: everything that a server and a device will check, offline.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verifies a release offline: roles, quorum, every entry, every file.",
        discussion: """
            patchsign verify v2.release --keys Keys

            Needs root.json and targets.json in the folder of --keys, and no key. An expired release is reported and \
            is no failure.

            Exit codes: 0 everything holds; 3 something does not, or signatures are missing; 4 malformed; 6 disk; \
            64 usage.
            """
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    @OptionGroup var time: TimeOption

    @Flag(help: "Print as JSON.")
    var json = false

    func run() async throws {
        try await ending(json: json) { () async throws(Failure) in
            let (folder, keys) = (FilePath(argument: release), FilePath(argument: keys))
            let verification = try signing { () throws(SigningError) in
                let trust = try RootOfTrust(folder: keys, policy: .ofThisProcess, files: DiskFiles())
                return try Verification(folder, rootOfTrust: trust, files: DiskFiles())
            }
            let role = verification.contents.channel.text
            guard verification.quorum.isComplete else {
                throw Failure(
                    SigningError.incomplete(
                        folder,
                        role: role,
                        valid: verification.quorum.valid,
                        needed: verification.quorum.needed
                    )
                )
            }
            write(verification, isExpired: verification.isExpired(at: try time.time()))
        }
    }

    private func write(_ verification: Verification, isExpired: Bool) {
        let console = Console.standardOutput
        let (contents, counts) = (verification.contents, verification.counts)
        guard !json else {
            let members: [(String, JSON?)] = [
                ("release", contents.json), ("roleSignatures", verification.quorum.json),
                ("entries", .integer(counts.entries)), ("assets", .integer(counts.assets)),
                ("objects", .integer(counts.objects)), ("entrySignatures", .integer(counts.signatures)),
                ("expired", .bool(isExpired)),
            ]
            return console.line(JSON.fields(members).pretty())
        }
        console.line("release \(contents.roleVersion) of \(contents.app) \(contents.channel) holds")
        console.line(verification.quorum.words(role: contents.channel.text))
        console.line(
            "\(Words.count(counts.entries, "entry", "entries")), \(Words.count(counts.assets, "asset")), "
                + "\(Words.count(counts.objects, "object")), \(Words.count(counts.signatures, "entry signature"))"
        )
        if isExpired { console.line("expired at \(contents.expires): devices take nothing new from it") }
    }
}
