import CommandKit
import ArgumentParser
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseService
import ServerRecords
import SystemPackage

/// `patchsrv init`: sets up an app.
struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Add an app to this server with its root of trust.",
        discussion: """
            Reads root.json and targets.json of `patchsign init`, and nothing else in that
            folder. Copies the online key, still encrypted, into the server's folder. One
            server can have several apps.

            EXAMPLES
              patchsrv init --data /srv/patchline --trust Keys --online-key Keys/online.key --passphrase-file online.pass
            """
                + exitCodes(
                    [
                        .done: "started",
                        .usage: KeyOptions.noTerminal,
                        .refused:
                            "refused: the root of trust or the online key does not verify, or the app lost its timestamp",
                        .malformed: "a file is malformed",
                        .busy: "another process uses the data folder",
                        .conflict: "the app exists already",
                    ],
                    usual: .disk
                )
    )

    @OptionGroup var folder: FolderOptions

    @Option(
        help: ArgumentHelp("Folder written by `patchsign init`, with root.json and targets.json.", valueName: "dir")
    )
    var trust: String

    @Option(help: ArgumentHelp("The online key: private key of snapshot, timestamp and dial.", valueName: "file"))
    var onlineKey: String

    @OptionGroup var passphrase: KeyOptions

    func run() async throws {
        try await begin(shownOn: .standardOutput)
    }

    /// - Parameter console: The output for the result.
    func begin(shownOn console: Console) async throws {
        try await reporting {
            let files = DiskFiles()
            let now = ProcessEnvironment.now()
            let trust = FilePath(argument: trust)
            let rootOfTrust = try RootOfTrust(
                root: try files.read(trust.at("root.json"), limit: Limits.root),
                targets: try files.read(trust.at("targets.json"), limit: Limits.targetsRole),
                at: now
            )
            let key = try passphrase.key(at: FilePath(argument: onlineKey), isStored: false)
            // Checked before the folder is created, so that a rejected app leaves no files.
            try CreateApp(
                rootOfTrust,
                onlineKey: key,
                in: folder.folder,
                files: files,
                allowsTestingKeys: ProcessEnvironment.allowsTestingKeys
            ).check()
            if files.linkFault(at: folder.folder.root) != nil { throw Failure(withoutPermissions: folder.folder.root) }
            try folder.folder.make(files: files)
            try await StartApp(rootOfTrust, by: .here, folder.operations(key)).run(onlineKey: key)
            console.line(
                "initialized \(rootOfTrust.app) in \(printable(folder.folder.root.string)); nothing published yet"
            )
        }
    }
}

extension Failure {
    /// A failure on a file system without hard links: FAT or exFAT, which have no permissions either.
    init(withoutPermissions folder: FilePath) {
        self.init(
            "\(folder) would be on a file system without permissions, such as FAT or exFAT",
            hint: "a server's folder contains a private key: put it on ext4, XFS or Btrfs.",
            code: .disk
        )
    }
}
