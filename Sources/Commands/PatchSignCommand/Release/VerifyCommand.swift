import ArgumentParser
import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import ReleaseFolder
import SystemPackage

/// `patchsign verify`: performs all checks of a server and a device, offline.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify a release offline: roles, quorum, every entry, every file.",
        discussion: """
            Needs root.json and targets.json in --keys, and no key. An expired release is reported but does not fail.
            --explain lists each check with its key and rule, up to the one that failed. Keys are named after the .pub
            files in --keys.

            EXAMPLES
              patchsign verify v2.release --keys Keys
              patchsign verify v2.release --keys Keys --explain --all
            """
                + exitCodes(
                    [
                        .done: "everything is valid",
                        .refused: "something is not valid, or signatures are missing",
                    ],
                    usual: .malformed,
                    .disk
                )
    )

    @Argument(help: ArgumentHelp("The signed release.", valueName: "dir"))
    var release: String

    @Option(help: ArgumentHelp("The folder with root.json and targets.json.", valueName: "dir"))
    var keys: String

    @OptionGroup var time: JudgingTimeOption

    @Flag(help: "List each check, its rule and its key; of the checks per file, the first 20.")
    var explain = false

    @Flag(help: "With --explain: list all checks.")
    var all = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if all && !explain { throw ValidationError("--all needs --explain") }
    }

    func run() async throws {
        try await runCommand(json: json) { () async throws(Failure) in
            let (folder, keys) = (FilePath(argument: release), FilePath(argument: keys))
            var checks: [CheckRecord] = []
            let verification: ReleaseVerification
            do throws(Failure) {
                verification = try verify(folder, keys) { checks.append($0) }
            } catch {
                if !json { report(checks)?.write(to: .standardOutput, all: all) }
                throw error
            }
            if !json { report(checks)?.write(to: .standardOutput, all: all) }
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
            write(verification, isExpired: verification.isExpired(at: try time.time()), report(checks))
        }
    }

    private func verify(
        _ folder: FilePath,
        _ keys: FilePath,
        observe: @escaping CheckObserver
    ) throws(Failure) -> ReleaseVerification {
        let observe = explain ? observe : nil
        return try signing { () throws(SigningError) in
            let trust = try ReleaseTrust(folder: keys, policy: .ofThisProcess, files: DiskFiles(), observe: observe)
            return try ReleaseVerification(
                folder,
                rootOfTrust: trust,
                files: DiskFiles(),
                observe: observe,
                progress: reporter("Verifying")
            )
        }
    }

    /// The executed checks, if requested.
    private func report(_ checks: [CheckRecord]) -> CheckReport? {
        guard explain else { return nil }
        // Names are only for display, so an invalid key file only hides them.
        let folder = KeyFolder(FilePath(argument: keys), files: DiskFiles())
        return CheckReport(checks, names: (try? KeyNames(folder))?.byID ?? [:])
    }

    private func write(_ verification: ReleaseVerification, isExpired: Bool, _ checks: CheckReport?) {
        let console = Console.standardOutput
        let (contents, counts) = (verification.contents, verification.counts)
        guard !json else {
            let members: [(String, JSON?)] = [
                ("release", contents.json), ("roleSignatures", verification.quorum.json),
                ("entries", .integer(counts.entries)), ("assets", .integer(counts.assets)),
                ("objects", .integer(counts.objects)),
                ("unseen", counts.unseen > 0 ? .integer(counts.unseen) : nil),
                ("entrySignatures", .integer(counts.signatures)),
                ("expired", .bool(isExpired)), ("checks", checks?.json),
            ]
            return console.line(JSON.fields(members).pretty())
        }
        console.line("release \(contents.roleVersion) of \(contents.app) \(contents.channel) is valid")
        console.line(verification.quorum.words(role: contents.channel.text))
        console.line(
            "\(Words.count(counts.entries, "entry", "entries")), \(Words.count(counts.assets, "asset")), "
                + "\(Words.count(counts.objects, "object")), \(Words.count(counts.signatures, "entry signature"))"
        )
        if let words = counts.unavailableNote { console.line(words) }
        if isExpired { console.line("expired at \(contents.expires): devices install nothing new from it") }
    }
}
