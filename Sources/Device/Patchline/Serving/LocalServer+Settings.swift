package import AssetServer
package import HTTPFiles
package import PatchFetch
package import PatchSync
package import SystemPackage

extension LocalServer {
    package typealias Address = PagesAddress

    package struct Settings: Sendable {
        /// Whether pages are served.
        ///
        /// If false, the app runs without a port.
        package var serves = true
        /// The port; nil for the app's own, which is recorded at the first start; 0 for any free port.
        package var port: Int?
        /// Whether to use the next free port if this one is taken.
        ///
        /// Pages lose cookies and storage then.
        package var takesNextFreePort = false
        /// Whether every program on this machine has access.
        ///
        /// If false, only clients with the token do.
        package var isOpen = false
        /// The most simultaneous connections, per other user of this machine, that have not sent the token.
        ///
        /// If access is open, other users share the total limit instead.
        package var strangersOfOtherUsers = 64
        /// Deviations from HTTP, for an app whose client was made for another server.
        package var dialect = Dialect.rfc9110
        package var serving = AssetServer.Settings(access: Access(token: nil, under: .shared))
        /// A folder whose files a client with the token may list, download, add, move and delete; nil for none.
        ///
        /// It must be an absolute path and not a symbolic link. It is rejected if access is open.
        package var uploads: FilePath?
        package var app = RunningApp.Settings()
        package var updates = Updates.Settings()
        /// The time between checks for online parameters in addition to syncs; nil to check only during a sync.
        package var parametersEvery: Duration? = ParametersWatch.interval
        /// The deadlines of each sync.
        package var deadlines = Deadlines()

        package init() {}
    }
}

/// The reason why an app's pages are not served.
package enum LocalServerError: Error, Equatable, Sendable {
    case portInUse(Int)
    /// The socket could not be created, or failed.
    case listener(FileServerError)
    /// State could not be read or written.
    case device(SyncError)
    /// Another caller is starting the server.
    case alreadyStarting
    /// The server was stopped while it started.
    case stopped
    case other(String)

    init(_ error: any Error) {
        switch error {
        case FileServerError.portInUse(_, let port): self = .portInUse(port)
        case let error as FileServerError: self = .listener(error)
        case let error as SyncError: self = .device(error)
        default: self = .other(String(describing: error))
        }
    }
}

extension LocalServerError: CustomStringConvertible {
    package var description: String { PatchlineError(self).description }
}

extension LocalServer.Settings {
    /// The time between checks for parameters; nil if syncs are as frequent, or switched off.
    var parametersInterval: Duration? {
        guard updates.isAllowed, let parametersEvery else { return nil }
        if let interval = updates.interval, interval <= parametersEvery { return nil }
        return parametersEvery
    }

    func listening(at port: Int) -> FileServerConfiguration {
        var configuration = FileServerConfiguration(host: "127.0.0.1", port: port)
        // No call of the page API has a body, and a delegate reads bodies as streams. A small limit prevents clients without access
        // from filling the memory.
        configuration.maxBodyBytes = 4 * 1024
        configuration.dialect = dialect
        configuration.sharing = .byUser(strangers: isOpen ? nil : strangersOfOtherUsers)
        return configuration
    }
}
