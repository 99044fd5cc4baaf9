import NIOConcurrencyHelpers
package import PatchFormat
package import PatchServer
import ServiceLifecycle

/// Makes packs that devices requested in vain, one at a time, while a server runs.
///
/// A request is answered at once; the next one receives the pack. Only packs to versions that a channel lists now are made, from
/// contents in the tree. Each is tried once, unless an error occurred, so repeated requests cost nothing.
package final class PackDemand: Service {
    private struct Wanted: Hashable, Sendable {
        let app: AppID
        let pack: BasePack
    }

    /// The data on an app that distinguishes possible packs from made-up names.
    private struct Known: Sendable {
        /// The edition of the timestamp when this was read.
        let edition: String?
        /// The channel of each listed manifest.
        let listed: [SHA256Digest: ChannelName]
        let bases: Set<SHA256Digest>
    }

    /// How many packs may wait; others are requested again.
    private static let waiting = 64
    /// How many packs are remembered as tried.
    private static let remembered = 10_000

    private let operations: ReleaseOperations
    private let room: Int
    private let observe: @Sendable (AppID, BasePack, Result<TreeChange, OperationError>) -> Void
    private let requests: AsyncStream<Wanted>
    private let queue: AsyncStream<Wanted>.Continuation
    private let asked = NIOLockedValueBox<Set<Wanted>>([])
    private let known = NIOLockedValueBox<[AppID: Known]>([:])

    /// - Parameters:
    ///   - room: the limit of an app's packs together, in bytes; none is made above it.
    ///   - observe: receives the result for each pack.
    package init(
        _ operations: ReleaseOperations,
        room: Int,
        observe: @escaping @Sendable (AppID, BasePack, Result<TreeChange, OperationError>) -> Void = { _, _, _ in }
    ) {
        (self.operations, self.room, self.observe) = (operations, room, observe)
        (requests, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.waiting))
    }

    /// Called on the thread that answers requests: it never waits.
    package func ask(_ app: AppID, _ pack: BasePack) {
        let wanted = Wanted(app: app, pack: pack)
        guard asked.withLockedValue({ $0.insert(wanted).inserted }) else { return }
        guard case .enqueued = queue.yield(wanted) else {
            asked.withLockedValue { _ = $0.remove(wanted) }
            return
        }
        asked.withLockedValue { if $0.count > Self.remembered { $0 = [wanted] } }
    }

    /// Runs until graceful shutdown or cancellation.
    ///
    /// A pack being made then is abandoned when the process ends.
    package func run() async throws {
        let work = Task { for await wanted in requests { await make(wanted) } }
        try? await gracefulShutdown()
        queue.finish()
        work.cancel()
    }

    private func make(_ wanted: Wanted) async {
        do throws(OperationError) {
            observe(wanted.app, wanted.pack, .success(try await made(wanted)))
        } catch {
            asked.withLockedValue { _ = $0.remove(wanted) }
            observe(wanted.app, wanted.pack, .failure(error))
        }
    }

    private func made(_ wanted: Wanted) async throws(OperationError) -> TreeChange {
        let (app, pack) = (wanted.app, wanted.pack)
        // Requests for unknown names are ignored.
        guard let known = try? await known(app), known.bases.contains(pack.base),
            let channel = known.listed[pack.manifest]
        else { return .nothing }
        let used = try await operations.looking(app) { (repository) throws(ServerError) in
            try repository.packBytes()
        }
        guard used < room else { return .nothing }
        return try await operations.makePacks(of: channel, in: app, .one(pack))
    }

    private func known(_ app: AppID) async throws(OperationError) -> Known {
        let last = known.withLockedValue { $0[app] }
        let now = try await operations.looking(app) { (repository) throws(ServerError) in
            let edition = try repository.storage.status(of: .timestamp)?.edition
            if let last, last.edition == edition { return last }
            let (listed, bases) = try repository.packEnds()
            return Known(edition: edition, listed: listed, bases: bases)
        }
        known.withLockedValue { $0[app] = now }
        return now
    }
}
