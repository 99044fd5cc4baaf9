import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import ReleaseClient
import ReleaseService

/// One channel of one app, and how what is there is printed.
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

/// A channel of a server whose folder is here, or that is asked over HTTP.
struct ChannelOptions: ParsableArguments, ChannelPlace {
    @OptionGroup var server: PlaceOptions
    @OptionGroup var names: ChannelNames

    var folder: ServerFolder { server.folder }

    /// The answer of a server: what is here and what a service says are the same document.
    ///
    /// - Parameter there: given the service, and where the channel is on it, below `/api/v1`.
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

/// A channel of a server whose folder is here.
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

    /// - Throws: `noChannel` for a channel that the root of trust does not know.
    var repository: AppRepository {
        get throws {
            let repository = try repositoryOfAnyChannel
            try repository.check(channel)
            return repository
        }
    }

    /// Asks the service about the channel; a failure is reported as `--json` wants it.
    func asking(_ question: (ReleaseOperations, AppID) async throws -> Void) async throws {
        try await reporting(json: json) {
            let app = try repository.app
            try await question(try folder.operations(), app)
        }
    }

    /// Prints a state, as JSON or in words.
    func show(_ state: @autoclosure () -> JSON, words: (Console) -> Void) {
        let console = Console.standardOutput
        if json { console.line(state().pretty()) } else { words(console) }
    }

    /// Also of one that was dropped: its history stays.
    var repositoryOfAnyChannel: AppRepository {
        get throws { try AppRepository(try folder.app(named: names.app), in: folder) }
    }
}

extension ServerFolder {
    /// The app that is named, or the only one there is.
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
