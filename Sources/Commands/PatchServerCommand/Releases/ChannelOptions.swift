import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService

/// The options for one channel of one app, and for the output format.
struct ChannelNames: ParsableArguments {
    @Option(help: ArgumentHelp("The app. Required if the server has several.", valueName: "app"), transform: parsed)
    var app: AppID?

    @Option(
        help: ArgumentHelp("The channel.", valueName: "channel"),
        transform: parsed
    )
    var channel: ChannelName

    @Flag(help: "Print the result as JSON.")
    var json = false
}

/// A channel of a server, in its folder or over HTTP.
struct ChannelOptions: ParsableArguments, ChannelPlace {
    @OptionGroup(title: "Server") var server: PlaceOptions
    @OptionGroup var names: ChannelNames

    var folder: ServerFolder { server.folder }

    /// Returns the answer of a server.
    ///
    /// The folder and a service return the same document.
    ///
    /// - Parameter there: Receives the service and the channel's path below `/api/v1`.
    func answer(
        here: () async throws -> JSON,
        there: (ServiceClient, _ path: String) async throws -> JSON
    ) async throws -> JSON {
        try await server.asking(here: here) { client in
            let app: AppID
            if let named = names.app { app = named } else { app = try await client.onlyApp() }
            return try await there(client, "/apps/\(app)/channels/\(channel)")
        }
    }
}

/// A channel of a server in a folder on this machine.
struct LocalChannelOptions: ParsableArguments, ChannelPlace {
    @OptionGroup var data: FolderOptions
    @OptionGroup var names: ChannelNames

    var folder: ServerFolder { data.folder }
}

protocol ChannelPlace {
    var folder: ServerFolder { get }
    var names: ChannelNames { get }
}

extension ChannelPlace {
    var channel: ChannelName { names.channel }
    var json: Bool { names.json }

    /// - Throws: `noChannel` for a channel that is not in the root of trust.
    var repository: AppRepository {
        get throws {
            let repository = try repositoryOfAnyChannel
            try repository.check(channel)
            return repository
        }
    }

    /// Runs a question about the channel and reports a failure as `--json` requires.
    func asking(_ question: (ReleaseOperations, AppID) async throws -> Void) async throws {
        try await reporting(json: json) {
            let app = try repository.app
            try await question(try folder.operations(), app)
        }
    }

    /// Prints a state as JSON or as text.
    func show(_ state: @autoclosure () -> JSON, words: (Console) -> Void) {
        let console = Console.standardOutput
        if json { console.line(state().pretty()) } else { words(console) }
    }

    /// The repository, also for a removed channel, whose history is kept.
    var repositoryOfAnyChannel: AppRepository {
        get throws { try AppRepository(try folder.app(named: names.app), in: folder) }
    }
}

extension ServerFolder {
    /// The named app, or the only one.
    func app(named name: AppID?) throws -> AppID {
        if let name { return name }
        let all = try allApps(files: DiskFiles())
        guard let only = all.first else { throw Failure.noApps(in: self) }
        guard all.count == 1 else {
            throw ValidationError("--app is needed: this server has \(all.map(\.text).joined(separator: ", "))")
        }
        return only
    }
}
