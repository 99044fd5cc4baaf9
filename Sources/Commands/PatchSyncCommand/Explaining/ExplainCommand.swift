import ArgumentParser
import CommandKit
import DeviceOutput
import PatchChoice
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain why this device gets or does not get each listed version. No network.",
        discussion: """
            Evaluates the list and the dial that this device verified last. For each rule
            of a version it shows the requirement, the device's value, the result, and the
            smallest change that would satisfy the rule. The result depends only on these
            facts, so a device's --facts can be explained on another machine. The page
            "Why a device has what it has" lists the codes.

            EXAMPLES
              patchsync explain --store /var/lib/app
              patchsync explain --store /var/lib/app web@1.4.2
              patchsync explain --store /var/lib/app --at 2026-12-24T18:00:00Z
              patchsync explain --store /var/lib/app --facts >facts.json
              patchsync explain --as facts.json web --json
            """
                + exitCodes(
                    [
                        .done: "shown",
                        .refused: "nothing to explain: no list yet, or no such patch or version in it",
                        .malformed: "a file of the store, or of --as, is malformed",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var options: StoreOptions

    @Argument(help: ArgumentHelp("Only this patch, or only this version of it.", valueName: "patch[@version]"))
    var patch: ExplainedPatch?

    @Option(help: ArgumentHelp("Evaluate for this time instead of now.", valueName: "YYYY-MM-DDTHH:MM:SSZ"))
    var at: UTCTime?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Evaluate for another device, from its --facts output.", valueName: "facts.json")
    )
    var other: String?

    @Flag(help: "Print this device's facts, as input for --as. Includes the user and the device's secret id.")
    var facts = false

    func validate() throws {
        if facts, other != nil || at != nil || patch != nil {
            throw ValidationError(
                "--facts excludes other options: it prints the facts of this device and explains nothing"
            )
        }
    }

    func run() async throws {
        try await runCommand(json: options.json, work)
    }

    private func work() async throws(Failure) {
        let device = try await options.opened()
        let out = Console.standardOutput
        if facts {
            return out.line(try await reporting { () throws(SyncError) in try device.describedDevice() }.json.line)
        }
        let (other, time) = (try other.map { path throws(Failure) in try Self.device(path) }, at)
        let found = try await reporting { () throws(SyncError) in try device.explanation(of: other, at: time) }
        guard let found else { throw .noListYet }
        let explanation = patch.map { found.only($0.patchID, $0.version) } ?? found
        if let patch, explanation.versions.isEmpty {
            throw .notListed("\(patch)")
        }
        // The failure of this device, not of the one that --as describes.
        let failure = other == nil ? device.store.syncFailure(of: device.configuration.channel) : nil
        if options.json {
            out.line(explanation.json(device.configuration, after: failure).line)
        } else {
            explanation.print(to: out, after: failure)
        }
    }

    private static func device(_ path: String) throws(Failure) -> DescribedDevice {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(FilePath(argument: path), limit: Limits.stateFile)
        } catch { throw Failure(SyncError.file(error)) }
        do throws(FormatError) { return try DescribedDevice(bytes, named: path) } catch {
            throw Failure(SyncError.format(error))
        }
    }
}

/// A patch or a version: `web`, or `web@1.4.2`.
struct ExplainedPatch: ExpressibleByArgument, CustomStringConvertible {
    let patchID: PatchID
    let version: VersionLabel?

    init?(argument: String) {
        let parts = argument.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let id = PatchID(parts[0]) else { return nil }
        patchID = id
        guard parts.count == 2 else {
            version = nil
            return
        }
        guard let version = VersionLabel(parts[1]) else { return nil }
        self.version = version
    }

    var description: String { version.map { "\(patchID)@\($0)" } ?? "\(patchID)" }
}
