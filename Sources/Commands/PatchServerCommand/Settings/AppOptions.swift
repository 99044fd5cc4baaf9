import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore

/// The apps of a server to which a command applies.
struct AppOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Only this app (default: all apps of the server).", valueName: "app"), transform: parsed)
    var app: AppID?

    /// - Parameter damaged: Whether apps whose trees have lost their timestamp are included.
    /// - Throws: A failure if the folder has no app.
    func apps(in folder: ServerFolder, damaged: Bool = false) throws -> [AppID] {
        if let app { return [app] }
        let all = try damaged ? folder.givenApps(files: DiskFiles()) : folder.allApps(files: DiskFiles())
        guard !all.isEmpty else { throw Failure.noApps(in: folder) }
        return all
    }
}
