/// Where a server listens and what it grants a client, each with its unit.
package struct FileServerConfiguration: Sendable {
    /// A name or an address; `127.0.0.1` keeps the server to this machine.
    package var host: String
    /// 0 takes any free port; `onListening` tells which.
    package var port: Int
    /// A bound socket that stands in place of host and port, and is the server's from its start on: one of AF_UNIX, or one that
    /// was passed to this process.
    package var socket: Int32?
    /// With it the server speaks HTTPS and nothing else.
    package var tls: RenewableIdentity?
    /// Other rules than HTTP's, for clients that were made for another server.
    package var dialect = Dialect.rfc9110

    /// Connections served at a time; for one more, the one that has waited longest goes.
    ///
    /// Where none waits, or who asks has a share of what is left already, the newcomer is answered 503 and closed, or with
    /// TLS closed before its handshake.
    ///
    /// Never more than half of the files that the process may have open (`ulimit -n`), which is raised if it can be.
    package var maxConnections = 1024
    /// Among whom they are shared out: see ``RoomRule`` for how many each may have.
    package var sharing = RoomSharing.byAddress(trustedProxies: .none)
    /// Bytes of the request line and all fields together; more is answered 431.
    package var maxHeaderBytes = 16 * 1024
    /// Bytes of the target, less than ``maxHeaderBytes``; more is answered 414.
    package var maxTargetBytes = 8 * 1024
    /// Bytes of a request's decoded body; more is answered 413.
    package var maxBodyBytes = 1024 * 1024

    /// Bytes of answers that are remembered, with their heads and small bodies; see ``FileSource/edition``.
    ///
    /// A file that is held open for them counts as 128 KiB, so that 16 MiB are at most 128 descriptors.
    package var maxRememberedBytes = 16 * 1024 * 1024

    /// How long an open connection may stay without the first byte of a request.
    package var idleTimeout: Duration = .seconds(60)
    /// How long a head may take from its first byte to its last, however lively it drips; then 408.
    ///
    /// A TLS handshake may take as long, from the moment the client connects; then the connection is dropped.
    package var headerTimeout: Duration = .seconds(10)
    /// How long a body may take from the head to its last byte; then 408.
    package var bodyTimeout: Duration = .seconds(60)
    /// How far a client may fall behind ``leastRate`` with a body that a source reads as a stream; then 408.
    package var bodyStallTimeout: Duration = .seconds(60)
    /// Bytes a second that a client must send of a streamed body, and take of answers, on the average of the time in
    /// which nothing but it is waited for: half of what the slowest modems move.
    package var leastRate = 2_000
    /// How long a tunnel may stay open while nothing moves in it.
    package var tunnelIdleTimeout: Duration = .seconds(3600)
    /// How far a client may fall behind ``leastRate`` with what is sent to it, and how long it may take to accept one piece
    /// of a response (128 KiB); then the connection is dropped.
    package var writeTimeout: Duration = .seconds(60)
    /// How long responses in flight may go on once the server stops.
    package var drainTimeout: Duration = .seconds(10)

    /// Of a client's reading.
    package var readingPace: Pace { Pace(grace: writeTimeout, rate: leastRate) }

    /// Of a client's sending of a streamed body.
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
