import PatchFormat
import ArgumentParser
import CommandKit
import PatchRelease
import PatchStore
import SystemPackage

/// The folder of an app's root of trust, and the secrets that open its keys.
struct KeyOptions: ParsableArguments {
    static let help = "The folder with root.json, targets.json and keys."

    @Option(help: ArgumentHelp(KeyOptions.help, valueName: "dir"))
    var keys: String

    @OptionGroup(title: "Keys") var opening: KeyOpening

    init() {}

    init(keys: String, opening: KeyOpening) {
        self.keys = keys
        self.opening = opening
    }

    var folder: FilePath { FilePath(argument: keys) }

    func rootOfTrust() throws(Failure) -> ReleaseTrust {
        let folder = folder
        return try signing { () throws(SigningError) in
            try ReleaseTrust(folder: folder, policy: .ofThisProcess, files: DiskFiles())
        }
    }

    func open(_ reference: KeyReference) throws(Failure) -> SigningKey {
        try opening.open(reference)
    }

    /// Opens a key file, or an external signer by its description.
    func open(_ file: FilePath) throws(Failure) -> SigningKey {
        try opening.open(KeyReference(file))
    }
}
