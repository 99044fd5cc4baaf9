import NIOCore
import NIOHTTP1

/// The access log lines of responses to connections of which no request was read.
struct RefusalLog: Sendable {
    private let accessLog: (@Sendable (AccessLogEntry) -> Void)?

    init(_ accessLog: (@Sendable (AccessLogEntry) -> Void)?) {
        self.accessLog = accessLog
    }

    /// Logs `response` once the system has accepted or refused its bytes.
    func note(_ response: Response, to channel: any Channel, when sent: EventLoopFuture<Void>) {
        guard let accessLog else { return }
        let begin = ContinuousClock.now
        let address = channel.remoteAddress?.ipAddress ?? "-"
        sent.whenComplete { result in
            let isSent = if case .success = result { true } else { false }
            accessLog(
                AccessLogEntry(
                    method: "-",
                    target: "-",
                    status: Int(response.status.code),
                    bodyBytes: isSent ? response.body.count ?? 0 : 0,
                    duration: begin.duration(to: .now),
                    remoteAddress: address,
                    userAgent: nil
                )
            )
        }
    }
}
