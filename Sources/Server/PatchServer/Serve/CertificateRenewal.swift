package import Linux
package import HTTPFiles
import PatchStore
import ServiceLifecycle

/// What came of a look at a certificate's files.
package enum CertificateLook: Equatable, Sendable {
    /// New connections see it; until when it holds, in seconds since 1970.
    case renewed(until: Int)
    /// The one before goes on: why, in one sentence.
    case kept(String)
}

/// Shows clients a renewed certificate while a server serves: looks at its files now and then, and when it is told to.
///
/// A certificate and a key that do not belong together, or a file that is half written, change nothing: the look after
/// their next change is another chance. Connections that are open go on with what they began with.
package struct CertificateRenewal<C: Clock<Duration>>: Service {
    /// What the server shows.
    package let identity: RenewableIdentity
    private let every: Duration
    private let clock: C
    private let nudges: AsyncStream<Void>
    private let files: @Sendable () -> [FileIdentity?]
    private let load: @Sendable () throws -> TLSIdentity
    private let report: @Sendable (CertificateLook) -> Void
    /// Taken before they were read for the first time.
    private let first: [FileIdentity?]

    private enum Occasion: Sendable {
        case interval, nudge
    }

    /// Loads the certificate for the first time.
    ///
    /// - Parameters:
    ///   - nudges: each makes it load now, changed or not.
    ///   - files: which files there are, as far as a change can be told from it.
    ///   - load: reads and checks them.
    ///   - report: called for each load but the first.
    package init(
        every: Duration,
        clock: C,
        nudges: AsyncStream<Void>,
        files: @escaping @Sendable () -> [FileIdentity?],
        load: @escaping @Sendable () throws -> TLSIdentity,
        report: @escaping @Sendable (CertificateLook) -> Void
    ) throws {
        (self.every, self.clock, self.nudges) = (every, clock, nudges)
        (self.files, self.load, self.report) = (files, load, report)
        first = files()
        identity = RenewableIdentity(try load())
    }

    /// Goes on until graceful shutdown or cancellation.
    package func run() async throws {
        let (occasions, continuation) = AsyncStream.makeStream(of: Occasion.self)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while (try? await clock.sleep(for: every)) != nil { continuation.yield(.interval) }
                    continuation.finish()
                }
                group.addTask { for await _ in nudges { continuation.yield(.nudge) } }
                await look(at: occasions)
                group.cancelAll()
            }
        }
    }

    private func look(at occasions: AsyncStream<Occasion>) async {
        var known = first
        for await occasion in occasions {
            // Before they are read: what is written meanwhile is another change.
            let found = files()
            guard occasion == .nudge || found != known else { continue }
            known = found
            do {
                let renewed = try load()
                identity.renew(with: renewed)
                report(.renewed(until: renewed.validity.upperBound))
            } catch { report(.kept("\(error)")) }
        }
    }
}
