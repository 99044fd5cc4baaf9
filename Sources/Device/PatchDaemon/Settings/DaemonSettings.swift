package import SystemPackage

/// What one process of a device does: its stores, and the socket that others ask it by.
package struct DaemonSettings: Equatable, Sendable {
    /// Bytes of a settings file.
    package static let limit = 65_536
    package static let standardFile: FilePath = "/etc/patchline/patchsync.yaml"

    package enum Socket: Equatable, Sendable {
        /// In the folder that the service manager gives, else below `/run`.
        case standard
        case at(FilePath)
        case none

        /// - Parameter runtime: RUNTIME_DIRECTORY (systemd.exec(5)).
        package func path(runtime: String?) -> FilePath? {
            switch self {
            case .none: nil
            case .at(let path): path
            case .standard:
                FilePath(runtime.flatMap { $0.isEmpty ? nil : $0 } ?? "/run/patchline").appending("patchsync.sock")
            }
        }
    }

    package var socket = Socket.standard
    /// By their names, in ascending order.
    package var stores: [StoreSettings] = []

    package init() {}
}

/// Why a file holds no settings.
package struct DaemonSettingsFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let file: String
    /// From 1; nil where it is the file's as a whole.
    package let line: Int?
    package let rule: String
    package var hint: String?

    package init(file: String, line: Int?, rule: String, hint: String? = nil) {
        (self.file, self.line, self.rule, self.hint) = (file, line, rule, hint)
    }

    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(rule)" }
}
