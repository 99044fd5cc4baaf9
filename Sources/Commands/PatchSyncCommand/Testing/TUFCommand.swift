import ArgumentParser
import CommandKit
import DeviceOutput
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import SystemPackage

/// `patchsync tuf`: the engine's metadata workflow on any TUF repository, with the client protocol of tuf-conformance.
///
/// It is one command instead of three, because the protocol's options precede its action.
struct TUFCommand: AsyncParsableCommand {
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case initialise = "init"
        case refresh
        case download
    }

    static let configuration = CommandConfiguration(
        commandName: "tuf",
        abstract: "Run a plain TUF client, for any TUF repository and for tuf-conformance.",
        discussion: """
            The file of a target in --target-dir is named after its path, percent-encoded.

            EXAMPLES
              patchsync tuf --metadata-dir md init root.json
              patchsync tuf --metadata-dir md --metadata-url http://127.0.0.1:8080/APP/metadata refresh
              patchsync tuf --metadata-dir md --metadata-url http://127.0.0.1:8080/APP/metadata \\
                --target-name production/patchlist.json --target-dir files \\
                --target-base-url http://127.0.0.1:8080/APP/targets download
            """
                + exitCodes(
                    [
                        .done: "everything succeeded"
                    ],
                    usual: .failed
                )
    )

    @Option(help: ArgumentHelp("Folder for trusted metadata.", valueName: "dir"))
    var metadataDir: String

    @Option(help: ArgumentHelp("URL of the repository's metadata.", valueName: "url"))
    var metadataUrl: String?

    @Option(name: .customLong("target-name"), help: ArgumentHelp("Path of a target. Repeatable.", valueName: "path"))
    var targetNames: [String] = []

    @Option(help: ArgumentHelp("Folder for targets.", valueName: "dir"))
    var targetDir: String?

    @Option(help: ArgumentHelp("URL of the repository's targets.", valueName: "url"))
    var targetBaseUrl: String?

    @Argument(help: "The action: init, refresh or download.")
    var action: Action

    @Argument(help: ArgumentHelp("For init: the first root of trust.", valueName: "file"))
    var root: String?

    func validate() throws {
        switch action {
        case .initialise where root == nil: throw ValidationError("init wants a root file")
        case .refresh where metadataUrl == nil: throw ValidationError("refresh wants --metadata-url")
        case .download where metadataUrl == nil || targetBaseUrl == nil || targetDir == nil || targetNames.isEmpty:
            throw ValidationError(
                "download wants --metadata-url, --target-base-url, --target-dir and --target-name"
            )
        case .initialise, .refresh, .download: break
        }
        for url in [metadataUrl, targetBaseUrl].compactMap(\.self) where ServerURL(url) == nil {
            throw ValidationError("'\(url)' \(ServerURL.rule)")
        }
    }

    func run() async throws {
        try await runCommand { () async throws(Failure) in
            do throws(SyncError) {
                try await work()
            } catch {
                let failure = Failure(error)
                throw Failure(failure.message, hint: failure.hint, code: .failed)
            }
        }
    }

    private func work() async throws(SyncError) {
        let store = TrustStore(folder: FilePath(argument: metadataDir), files: DiskFiles())
        if action == .initialise {
            let bytes: [UInt8]
            do throws(FileError) {
                bytes = try DiskFiles().read(FilePath(argument: root ?? ""), limit: Limits.root)
            } catch { throw .file(error) }
            return try TUFClient.start(store, root: bytes)
        }
        guard let metadata = metadataUrl.flatMap({ ServerURL($0) }) else { preconditionFailure("validated before") }
        let targets = targetBaseUrl.flatMap { ServerURL($0) } ?? metadata
        try await HTTPFetcher.with(.init(metadata: metadata, targets: targets)) { fetcher throws(SyncError) in
            let client = TUFClient(store: store, fetcher: fetcher, now: ProcessEnvironment.now)
            if action == .refresh { return try await client.refresh() }
            try await client.download(targetNames, to: FilePath(argument: targetDir ?? ""))
        }
    }
}
