import ArgumentParser
import CommandKit
import PatchFormat
import PatchStore
import ReleaseClient
import SystemPackage

/// Makes the commands remember the state of a server and reject an older one, as devices do.
struct MemoryOptions: ParsableArguments {
    static let flag = "--server-restored"
    static let variable = "XDG_STATE_HOME"

    @Flag(
        help: ArgumentHelp(
            "Accept an older state than the server showed before, after its restore from a backup.",
            discussion:
                "The state is stored in \(MemoryOptions.variable)/patchline/APP.json, by default below "
                + "~/.local/state. On a build machine, keep that folder between runs."
        )
    )
    var serverRestored = false

    /// - Throws: an error if the stored state cannot be read. It is never discarded silently.
    func ofServer(_ server: ServerURL, app: AppID) throws(Failure) -> ServerMemory {
        guard let folder = Self.folder else {
            return ServerMemory(file: nil, server: server, known: nil, replaces: serverRestored)
        }
        let file = SeenFile(app, in: folder, files: DiskFiles())
        guard !serverRestored else { return ServerMemory(file: file, server: server, known: nil, replaces: true) }
        do throws(SeenFileError) {
            let known = try file.seen(of: server)
            return ServerMemory(file: file, server: server, known: known, replaces: false)
        } catch {
            switch error {
            case .malformed:
                throw Failure(
                    error.description,
                    hint: "it contains the last known state of \(server); "
                        + "\(Self.flag) replaces it with the present state",
                    code: .malformed
                )
            case .file, .locked:
                throw Failure(error.description, hint: "\(Self.variable) names another folder", code: .disk)
            }
        }
    }

    /// The folder of the stored states; nil without a home.
    ///
    /// A relative path is ignored (XDG Base Directory Specification).
    private static var folder: FilePath? {
        func absolute(_ name: String) -> FilePath? {
            guard let text = ProcessEnvironment.environment(name), text.hasPrefix("/") else { return nil }
            return FilePath(argument: text)
        }
        if let state = absolute(variable) { return state.appending("patchline") }
        return absolute("HOME")?.appending(".local").appending("state").appending("patchline")
    }
}

/// The remembered state of one server.
struct ServerMemory: Sendable {
    let file: SeenFile?
    let server: ServerURL
    let known: SeenMetadata?
    /// Whether the new state may replace a newer one.
    let replaces: Bool

    /// Stores the state.
    ///
    /// If there is no writable folder, a warning is printed instead.
    func keep(_ seen: SeenMetadata) async {
        var reason = "neither \(MemoryOptions.variable) nor HOME names a folder"
        if let file {
            do throws(SeenFileError) { return try await file.keep(seen, of: server, replacing: replaces) } catch {
                reason = error.description
            }
        }
        Console.standardError.line(printable(Self.warning(server, reason)))
    }

    static func warning(_ server: ServerURL, _ reason: String) -> String {
        "warning: the state of \(server) is not remembered, so an older state will not be noticed: \(reason)"
    }
}
