import PatchFormat
import CommandKit
import Linux
import PatchDaemon
import PatchStore
import SystemPackage

/// The settings file of `run`.
struct SettingsOnDisk: Sendable {
    enum Fault: Error, Equatable {
        case file(FileError)
        case settings(DaemonSettingsFault)
    }

    let path: FilePath
    private let name: String

    /// - Parameter name: The path as it was given, for messages.
    init(_ path: FilePath, named name: String) {
        (self.path, self.name) = (path, name)
    }

    func read() throws(Fault) -> DaemonSettings {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try DiskFiles().read(path.followingLinks, limit: DaemonSettings.limit)
        } catch { throw .file(error) }
        do throws(DaemonSettingsFault) {
            return try DaemonSettings(bytes, named: name)
                .resolved(named: name) { FilePath(asNamed: $0.string).followingLinks }
        } catch {
            throw .settings(error)
        }
    }

    /// The folders whose changes affect the file: its own, and that of the target if it is a link.
    var folders: [FilePath] { [path.removingLastComponent(), path.followingLinks.removingLastComponent()] }

    /// The identity of the present file, or nil if there is none.
    var identity: FileIdentity? { (try? DiskFiles().identity(of: path.followingLinks)) ?? nil }
}

extension Failure {
    init(_ fault: SettingsOnDisk.Fault) {
        switch fault {
        case .file(let error):
            self.init(
                "\(error)",
                hint: "--config names another file; the page \"Running\" describes it.",
                code: .disk
            )
        case .settings(let fault): self.init(fault.description, hint: fault.hint, code: .malformed)
        }
    }
}
