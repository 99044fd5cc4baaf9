package import SystemPackage

/// The settings of one process of a device: its stores, and its local socket.
package struct DaemonSettings: Equatable, Sendable {
    /// The largest settings file, in bytes.
    package static let limit = 65_536
    package static let standardFile: FilePath = "/etc/patchline/patchsync.yaml"

    package enum Socket: Equatable, Sendable {
        /// In the folder that the service manager provides, else below `/run`.
        case standard
        case at(FilePath)
        case none

        /// - Parameter runtime: The value of RUNTIME_DIRECTORY (systemd.exec(5)).
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
    /// The stores, in ascending order of their names.
    package var stores: [StoreSettings] = []

    package init() {}
}

/// The reason why a settings file is not valid.
package struct DaemonSettingsFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let file: String
    /// The line, from 1; nil if the fault concerns the whole file.
    package let line: Int?
    package let rule: String
    package var hint: String?

    package init(file: String, line: Int?, rule: String, hint: String? = nil) {
        (self.file, self.line, self.rule, self.hint) = (file, line, rule, hint)
    }

    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(rule)" }
}
