package import AssetServer
package import HTTPFiles
package import PatchFetch
package import PatchSync
package import SystemPackage

extension LocalServer {
    package typealias Address = PagesAddress

    package struct Settings: Sendable {
        /// Whether pages are served at all; else the app runs without a port.
        package var serves = true
        /// Nil: the app's own, recorded at the first start; 0: any free one.
        package var port: Int?
        /// Whether a taken port leads to the next one; pages lose cookies and storage then.
        package var takesNextFreePort = false
        /// Whether every program on this machine is let in; else only what has the token.
        package var isOpen = false
        /// Connections of each other user of this machine that have not shown the token, at a time; where everybody is let in
        /// they have a share of the places instead.
        package var strangersOfOtherUsers = 64
        /// Other rules than HTTP's, for an app whose client was made for another server.
        package var dialect = Dialect.rfc9110
        package var serving = AssetServer.Settings(access: Access(token: nil, under: .shared))
        /// A folder whose files who has the token may list, fetch, add, move and delete; without it there is none.
        ///
        /// Absolute, and no link. Refused where everybody is let in.
        package var uploads: FilePath?
        package var app = RunningApp.Settings()
        package var updates = Updates.Settings()
        /// How often online parameters are looked for beside the syncs; nil: only with a sync.
        package var parametersEvery: Duration? = ParametersWatch.interval
        /// Of each sync.
        package var deadlines = Deadlines()

        package init() {}
    }
}

/// Why an app's pages are not served.
package enum LocalServerError: Error, Equatable, Sendable {
    case portInUse(Int)
    /// The socket cannot be made, or broke.
    case listener(FileServerError)
    /// State could not be read, or not be written.
    case device(SyncError)
    /// Somebody else starts it just now.
    case alreadyStarting
    /// It was stopped while it started.
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
    /// Nil when a sync comes as often, and when there is no server to ask.
    var lookInterval: Duration? {
        guard updates.isAllowed, let parametersEvery else { return nil }
        if let interval = updates.interval, interval <= parametersEvery { return nil }
        return parametersEvery
    }

    func listening(at port: Int) -> FileServerConfiguration {
        var configuration = FileServerConfiguration(host: "127.0.0.1", port: port)
        // No call has a body, and a delegate takes bodies as streams: so no client that was not let in fills our
        // memory.
        configuration.maxBodyBytes = 4 * 1024
        configuration.dialect = dialect
        configuration.sharing = .byUser(strangers: isOpen ? nil : strangersOfOtherUsers)
        return configuration
    }
}
