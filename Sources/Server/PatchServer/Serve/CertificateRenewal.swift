package import Linux
package import HTTPFiles
import PatchStore
import ServiceLifecycle

/// The result of reading a certificate's files.
package enum CertificateReading: Equatable, Sendable {
    /// New connections use it; the end of its validity, in seconds since 1970.
    case renewed(until: Int)
    /// The previous certificate stays in use; the reason, in one sentence.
    case kept(String)
}

/// Replaces a server's certificate while it runs.
///
/// Its files are checked periodically, and on request. A certificate and a key that do not match, or a half-written file, change
/// nothing: the next change of the files is another chance. Open connections keep the certificate they began with.
package struct CertificateRenewal<C: Clock<Duration>>: Service {
    /// The server's current certificate and key.
    package let identity: RenewableIdentity
    private let every: Duration
    private let clock: C
    private let nudges: AsyncStream<Void>
    private let files: @Sendable () -> [FileIdentity?]
    private let load: @Sendable () throws -> TLSIdentity
    private let report: @Sendable (CertificateReading) -> Void
    /// Recorded before the files were read for the first time.
    private let first: [FileIdentity?]

    private enum Occasion: Sendable {
        case interval, nudge
    }

    /// Loads the certificate for the first time.
    ///
    /// - Parameters:
    ///   - nudges: each loads the certificate now, changed or not.
    ///   - files: the identities of the files, to detect a change.
    ///   - load: reads and checks them.
    ///   - report: called for each load but the first.
    package init(
        every: Duration,
        clock: C,
        nudges: AsyncStream<Void>,
        files: @escaping @Sendable () -> [FileIdentity?],
        load: @escaping @Sendable () throws -> TLSIdentity,
        report: @escaping @Sendable (CertificateReading) -> Void
    ) throws {
        (self.every, self.clock, self.nudges) = (every, clock, nudges)
        (self.files, self.load, self.report) = (files, load, report)
        first = files()
        identity = RenewableIdentity(try load())
    }

    /// Runs until graceful shutdown or cancellation.
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
            // Recorded before the files are read: a concurrent write counts as another change.
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
