import ArgumentParser
import CommandKit
import Gateways
import PatchFormat
import PatchRelease
import PatchStore
import SystemPackage

/// `patchsign pack FILE…`: makes a package for JSPatch's loader or its platform.
struct PackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Pack scripts for JSPatch's loader or platform: vN.zip or fileN.",
        discussion: """
            The package contains script.zip (main.js and the other scripts) and key, the signature over its MD5.
            Loaders request ROOT/APPVERSION/vN.zip. N is read from the name of the output.

            With --app-version, the signed part names the app version and the package's version. Loaders that read it,
            such as this project's, refuse the package in another place. JSPatch's own loader ignores it.

            With --aes-key, it makes a package of JSPatch's platform: fileN, with encrypted scripts, and a new
            index.html, the sync file that names it. Serve ROOT/APPKEY/APPVERSION with both files from any file
            server. The key is read and never written.

            `--tell` packs nothing: it rewrites index.html with its present version and the given --gray,
            --condition, --paused and --run-later, or with --delete alone. No key is needed.

            EXAMPLES
              patchsign pack main.js --jspatch-key Keys/jspatch.key
              patchsign pack main.js other.js -o v2 --app-version 2.1 --jspatch-key jspatch.key
              patchsign pack main.js -o www/0a1b2c3d/2.1/file3 --app-version 2.1 --jspatch-key jspatch.key --aes-key aes.key
              patchsign pack main.js -o www/0a1b2c3d/2.1/file4 --jspatch-key jspatch.key --aes-key aes.key --gray 2
              patchsign pack --tell www/0a1b2c3d/2.1 --paused
            """
                + exitCodes(
                    [
                        .refused: "the key does not open or has another use",
                        .malformed: "a key has the wrong kind, or the scripts are not valid or cannot be packed",
                        .conflict:
                            "the output exists, or index.html is not a sync file with a version",
                    ],
                    usual: .done,
                    .failed,
                    .disk,
                    .network
                )
    )

    @Argument(help: ArgumentHelp("The scripts. Devices run main.js.", valueName: "file"))
    var files: [String] = []

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The new file. Default: v1, or file1 with --aes-key. For the loader, a missing .zip is added.",
            valueName: "file"
        )
    )
    var output: String?

    @Option(
        help: ArgumentHelp(
            "An RSA key used only for this. A key file may have 1,024 bits, as keys of old apps do.",
            valueName: "key"
        )
    )
    var jspatchKey: String?

    @Option(help: ArgumentHelp("The app version of the package, as the app reports it.", valueName: "2.1"))
    var appVersion: String?

    @Option(help: ArgumentHelp("Refuse a key that signs entries or a role in this folder.", valueName: "dir"))
    var keys: String?

    @Option(
        help: ArgumentHelp(
            "A 16-byte file: make a package of the platform and encrypt its scripts with this key.",
            valueName: "file"
        )
    )
    var aesKey: String?

    @Option(
        help: ArgumentHelp(
            "Pack nothing; rewrite the sync file of this folder: ROOT/APPKEY/APPVERSION.",
            valueName: "dir"
        )
    )
    var tell: String?

    @Flag(help: "With --tell: make devices delete their package (e).")
    var delete = false

    @OptionGroup var syncFileOptions: SyncFileOptions

    @OptionGroup(title: "Keys") var opening: KeyOpening

    func validate() throws {
        guard tell == nil else {
            guard files.isEmpty, output == nil, jspatchKey == nil, appVersion == nil, keys == nil, aesKey == nil else {
                throw ValidationError("--tell packs nothing, so it excludes files and keys")
            }
            guard !delete || !syncFileOptions.isUsed else {
                throw ValidationError("--delete excludes the other options of the sync file")
            }
            _ = try syncFileOptions.syncFile(after: PlatformSyncFile(version: LoaderVersion(1)))
            return
        }
        guard !delete else { throw ValidationError("--delete needs --tell") }
        guard !files.isEmpty else { throw ValidationError("Missing expected argument '<file> ...'") }
        guard jspatchKey != nil else { throw ValidationError("Missing expected argument '--jspatch-key <key>'") }
        _ = try place
        _ = try syncFile
    }

    /// The prefix of the output's name, before its number.
    private var prefix: String { aesKey == nil ? "v" : "file" }

    private var file: FilePath { FilePath(argument: output ?? "\(prefix)1") }

    /// The number in the output's name; nil if it has none.
    private var version: LoaderVersion? {
        let name = FilePath(output ?? "\(prefix)1").lastComponent?.string ?? ""
        let stem = aesKey == nil && name.hasSuffix(".zip") ? name.dropLast(4) : name[...]
        return stem.hasPrefix(prefix) ? LoaderVersion(String(stem.dropFirst(prefix.count))) : nil
    }

    /// The app version and number that the package states; nil for none.
    private var place: LoaderPlace? {
        get throws {
            guard let appVersion else { return nil }
            guard let app = AppVersion(appVersion) else { throw ValidationError("--app-version \(AppVersion.rule)") }
            guard let version else {
                throw ValidationError("with --app-version the output is called \(prefix)N, and N \(LoaderVersion.rule)")
            }
            return LoaderPlace(app, version)
        }
    }

    /// The sync file; nil for a package of the loader.
    private var syncFile: PlatformSyncFile? {
        get throws {
            guard aesKey != nil else {
                guard !syncFileOptions.isUsed else {
                    throw ValidationError("the options of the sync file need --aes-key")
                }
                return nil
            }
            guard let version else {
                throw ValidationError("with --aes-key the output is called fileN, and N \(LoaderVersion.rule)")
            }
            return try syncFileOptions.syncFile(naming: version)
        }
    }

    func run() async throws {
        if let tell { return try await write(syncFileIn: FilePath(argument: tell)) }
        let (place, syncFile) = (try place, try syncFile)
        try await runCommand { () async throws(Failure) in
            try Self.checkFolder(file.parent)
            let signer = try opening.openJSPatch(try KeyReference(argument: jspatchKey ?? "", inFolder: keys))
            let aesKey = try aesKey.map { (file) throws(Failure) in
                try keys.map { (folder) throws(Failure) in
                    try KeyFile.path(file, in: FilePath(argument: folder))
                } ?? FilePath(argument: file)
            }
            let files = files.map { FilePath(argument: $0) }
            warnOfPlace(place)
            try signing { () throws(SigningError) in
                if let keys, let key = signer.signingKey {
                    try ReleaseTrust(folder: FilePath(argument: keys), policy: .ofThisProcess, files: DiskFiles())
                        .checkJSPatchKey(key, files: DiskFiles())
                }
                if let aesKey, let syncFile {
                    SecretAccess.warn(of: aesKey.string)
                    let packed = try PlatformPacking(files, to: file, for: place, telling: syncFile)
                        .pack(signedBy: signer, encryptedBy: PlatformPacking.key(aesKey))
                    Console.standardOutput.line(Self.words(packed.package))
                    Console.standardOutput.line(Self.words(packed.syncFile, syncFile))
                    if let old = packed.before?.version, let new = syncFile.version, new < old {
                        Console.standardError.line(
                            "warning: its version was \(old) before: JSPatch's own clients return to \(new), and ours keep theirs"
                        )
                    }
                } else {
                    let packed = try LoaderPacking(files, to: file, for: place).pack(signedBy: signer)
                    Console.standardOutput.line(Self.words(packed))
                }
            }
        }
    }

    /// Checks the folder before a passphrase is requested.
    private static func checkFolder(_ folder: FilePath) throws(Failure) {
        let found = try signing { () throws(SigningError) in
            do throws(FileError) { return try DiskFiles().status(of: folder) } catch { throw .file(error) }
        }
        guard found == nil else { return }
        throw Failure("there is no folder \(folder)", hint: "mkdir -p makes it", code: .disk)
    }

    /// Warns if the package states another app version than its folder's name, because this project's clients reject it there.
    private func warnOfPlace(_ place: LoaderPlace?) {
        guard let place, let folder = file.parent.name, AppVersion(folder) != nil,
            !folder.hasSameBytes(as: place.appVersion.text)
        else { return }
        Console.standardError.line(
            "warning: the package is for app version \(place.appVersion), but it is in the folder \(printable(folder)), "
                + "where this project's clients reject it"
        )
    }

    private func write(syncFileIn folder: FilePath) async throws {
        try await runCommand { () async throws(Failure) in
            try Self.checkFolder(folder)
            let (_, now) = try signing { () throws(SigningError) in
                try PlatformPacking.changeSyncFile(folder) { before in
                    // The options were validated before, with any version.
                    var file = (try? syncFileOptions.syncFile(after: before)) ?? before
                    if delete {
                        file = PlatformSyncFile(version: nil)
                        file.isDeleted = true
                    }
                    return file
                }
            }
            Console.standardOutput.line(Self.words(folder.at(PlatformPlace.indexName), now))
        }
    }

    static func words(_ packed: LoaderPacking.Packed) -> String {
        let what = "\(packed.file): \(Words.count(packed.scripts, "script")), \(Words.bytes(packed.size))"
        return what + (packed.place.map { "; marked as \($0)" } ?? "; not marked with app version and number")
    }

    static func words(_ path: FilePath, _ file: PlatformSyncFile) -> String {
        "\(path): \(String(decoding: file.bytes, as: UTF8.self))"
    }
}
