import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore

/// Which apps of a server a command is about.
struct AppOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this app (default: all apps of the server).", valueName: "app"), transform: parsed)
    var app: AppID?

    /// - Throws: a failure when the folder has none.
    /// - Parameter damaged: also those whose trees have lost their timestamp.
    func apps(in folder: ServerFolder, damaged: Bool = false) throws -> [AppID] {
        if let app { return [app] }
        let all = try damaged ? folder.givenApps(files: DiskFiles()) : folder.allApps(files: DiskFiles())
        guard !all.isEmpty else { throw Failure.noApps(in: folder) }
        return all
    }
}
