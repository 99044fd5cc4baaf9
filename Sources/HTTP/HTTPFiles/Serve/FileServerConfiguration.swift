import HTTPCore

/// The address of a server and the limits for its clients.
package struct FileServerConfiguration: Sendable {
    /// A name or an address.
    ///
    /// `127.0.0.1` makes the server local to this machine.
    package var host: String
    /// The port.
    ///
    /// 0 selects any free port, which `onListening` reports.
    package var port: Int
    /// A bound socket that replaces host and port: one of AF_UNIX, or one that was passed to this process.
    ///
    /// The server owns it once it starts.
    package var socket: Int32?
    /// If set, the server speaks only HTTPS.
    package var tls: RenewableIdentity?
    /// Rules other than RFC 9110, for clients that were made for another server.
    package var dialect = Dialect.rfc9110

    /// Connections served at a time.
    ///
    /// For another connection, the one that has waited longest is closed.
    ///
    /// If none waits, or the client's group already has its share of the places, the new connection is answered 503 and closed.
    /// With TLS it is closed before its handshake.
    ///
    /// At most half of the files that the process may have open (`ulimit -n`). That limit is raised if possible.
    package var maxConnections = 1024
    /// How connections are divided into groups.
    ///
    /// ``CapacityRule`` describes the share of each group.
    package var sharing = ConnectionGrouping.byAddress(trustedProxies: .none)
    /// Bytes of the request line and all fields together.
    ///
    /// Larger heads are answered 431.
    package var maxHeaderBytes = 16 * 1024
    /// Bytes of the target, less than ``maxHeaderBytes``.
    ///
    /// Longer targets are answered 414.
    package var maxTargetBytes = 8 * 1024
    /// Bytes of a request's decoded body.
    ///
    /// Larger bodies are answered 413.
    package var maxBodyBytes = 1024 * 1024

    /// Bytes of remembered answers, with their heads and small bodies: see ``FileSource/edition``.
    ///
    /// A file that is kept open for an answer counts as 128 KiB, so 16 MiB are at most 128 descriptors.
    package var maxRememberedBytes = 16 * 1024 * 1024

    /// How long an open connection may wait for the first byte of a request.
    package var idleTimeout: Duration = .seconds(60)
    /// How long a head may take from its first byte to its last, however often bytes arrive.
    ///
    /// Then it is answered 408.
    ///
    /// A TLS handshake may take as long, from the moment the client connects. Then the connection is dropped.
    package var headerTimeout: Duration = .seconds(10)
    /// How long a body may take from the head to its last byte.
    ///
    /// Then it is answered 408.
    package var bodyTimeout: Duration = .seconds(60)
    /// How far a client may fall behind ``leastRate`` with a body that a source reads as a stream.
    ///
    /// Then it is answered 408.
    package var bodyStallTimeout: Duration = .seconds(60)
    /// Bytes per second that a client must send of a streamed body and accept of answers.
    ///
    /// It is an average over the time in which only the client is waited for. The default is half of the rate of the slowest
    /// modems.
    package var leastRate = 2_000
    /// How long a tunnel may stay open without a transfer.
    package var tunnelIdleTimeout: Duration = .seconds(3600)
    /// How far a client may fall behind ``leastRate`` as it receives an answer, and how long it may take to accept one piece of a
    /// response (128 KiB).
    ///
    /// Then the connection is dropped.
    package var writeTimeout: Duration = .seconds(60)
    /// How long responses in flight may continue once the server stops.
    package var drainTimeout: Duration = .seconds(10)

    /// The pace at which a client must read.
    package var readingPace: Pace { Pace(grace: writeTimeout, rate: leastRate) }

    /// The pace at which a client must send a streamed body.
    package func sendingPace(of intake: BodyIntake) -> Pace {
        switch intake {
        case .whole, .keptDocument: Pace(grace: bodyTimeout, rate: nil)
        case .stream, .keptStream: Pace(grace: bodyStallTimeout, rate: leastRate)
        }
    }

    package init(host: String = "127.0.0.1", port: Int = 0) {
        self.host = host
        self.port = port
    }
}
