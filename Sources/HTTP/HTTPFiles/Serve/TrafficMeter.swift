/// Counts the connections and answers of a server.
///
/// Called on its fast path, from many threads, so it must not wait.
package protocol TrafficMeter: Sendable {
    func connectionOpened()
    func connectionClosed()
    /// Counts a connection that ended, or was refused, for lack of room or time.
    func connectionLost(_ loss: LossOfConnection)

    /// - Parameters:
    ///   - target: The target as received, with its query; `-` if no head could be read.
    ///   - bodyBytes: Bytes of the body handed to the system.
    ///   - duration: As ``AccessLogEntry/duration``.
    func answered(_ target: String, status: Int, bodyBytes: Int, in duration: Duration)
}
