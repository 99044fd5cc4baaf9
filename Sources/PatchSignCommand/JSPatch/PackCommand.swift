import ArgumentParser
import CommandSupport
import Gateways
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage
import Terminal

/// `patchsign pack FILE…`: a package of JSPatch's loader.
struct PackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Packs scripts for JSPatch's loader: vN.zip, which it fetches and runs.",
        discussion: """
            The package holds script.zip, with the scripts side by side and main.js among them, and key, the signature \
            over its MD5. A loader asks for ROOT/APPVERSION/vN.zip.

            With --app-version the signed part says which version of which app version the package is, so that a loader \
            that reads it, as this project's does, refuses a package in another's place. JSPatch's own passes it over. N \
            is taken from the name of the output.

            EXAMPLES
              patchsign pack main.js --jspatch-key Keys/jspatch.key
              patchsign pack main.js other.js -o v2 --app-version 2.1 --jspatch-key jspatch.key
            """
                + exitCodes(
                    [
                        .refused: "the key does not open or has another use",
                        .malformed: "it is no RSA key, or the scripts are none or make no package",
                        .conflict: "the output exists",
                    ],
                    usual: .done,
                    .failed,
                    .disk,
                    .network
                )
    )

    @Argument(help: ArgumentHelp("The scripts; main.js is the one that is run.", valueName: "file"))
    var files: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file to write; .zip is added where it is missing.", valueName: "file")
    )
    var output = "v1"

    @Option(
        help: ArgumentHelp(
            "RSA, for this use alone. In a file it may have 1,024 bits, as the public halves in old apps do.",
            valueName: "key"
        )
    )
    var jspatchKey: String

    @Option(help: ArgumentHelp("The app version that it is for, as the app calls itself.", valueName: "2.1"))
    var appVersion: String?

    @Option(help: ArgumentHelp("A folder whose roles and entry.pub must not be of the key.", valueName: "dir"))
    var keys: String?

    @OptionGroup var opening: KeyOpening

    func validate() throws {
        _ = try place
    }

    /// Nil where it is to say nothing of it.
    private var place: LoaderPlace? {
        get throws {
            guard let appVersion else { return nil }
            guard let app = AppVersion(appVersion) else { throw ValidationError("--app-version \(AppVersion.rule)") }
            let name = FilePath(output).lastComponent?.string ?? ""
            let number = (name.hasSuffix(".zip") ? name.dropLast(4) : name[...]).dropFirst()
            guard name.hasPrefix("v"), let version = LoaderVersion(String(number)) else {
                throw ValidationError("with --app-version the output is called vN, and N \(LoaderVersion.rule)")
            }
            return LoaderPlace(app, version)
        }
    }

    func run() async throws {
        let place = try place
        try await runCommand { () async throws(Failure) in
            let signer = try opening.openJSPatch(try KeyReference(argument: jspatchKey))
            let packed = try signing { () throws(SigningError) in
                if let keys, let key = signer.signingKey {
                    try ReleaseTrust(folder: FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
                        .checkJSPatchKey(key, files: DiskFiles())
                }
                return try LoaderPacking(
                    files.map { FilePath(argument: $0) },
                    to: FilePath(argument: output),
                    for: place
                ).pack(signedBy: signer)
            }
            Console.standardOutput.line(Self.words(packed))
        }
    }

    static func words(_ packed: LoaderPacking.Packed) -> String {
        let what = "\(packed.file): \(Words.count(packed.scripts, "script")), \(Words.bytes(packed.size))"
        return what + (packed.place.map { "; says that it is \($0)" } ?? "; says nothing of what it is for")
    }
}
