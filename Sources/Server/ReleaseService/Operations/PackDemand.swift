import NIOConcurrencyHelpers
package import PatchFormat
package import PatchServer
import ServiceLifecycle

/// Makes packs that devices asked for and did not get, one at a time, while a server runs.
///
/// Whoever asks is answered at once; the next one gets the pack. Only packs to what a channel lists now are made, from what the
/// tree has, and each is tried once unless something was in the way: asking costs the server nothing after that.
package final class PackDemand: Service {
    private struct Wanted: Hashable, Sendable {
        let app: AppID
        let pack: BasePack
    }

    /// Of an app: what it takes to tell a pack that can be made from a made-up name.
    private struct Known: Sendable {
        /// Of the timestamp that it was read under.
        let edition: String?
        /// Where each listed manifest is listed.
        let listed: [SHA256Digest: ChannelName]
        let bases: Set<SHA256Digest>
    }

    /// That wait; others are asked for again.
    private static let waiting = 64
    /// That are remembered as tried.
    private static let remembered = 10_000

    private let operations: ReleaseOperations
    private let room: Int
    private let observe: @Sendable (AppID, BasePack, Result<TreeChange, OperationError>) -> Void
    private let requests: AsyncStream<Wanted>
    private let queue: AsyncStream<Wanted>.Continuation
    private let asked = NIOLockedValueBox<Set<Wanted>>([])
    private let known = NIOLockedValueBox<[AppID: Known]>([:])

    /// - Parameters:
    ///   - room: bytes that the packs of an app may have together; none is made beyond.
    ///   - observe: hears what became of each.
    package init(
        _ operations: ReleaseOperations,
        room: Int,
        observe: @escaping @Sendable (AppID, BasePack, Result<TreeChange, OperationError>) -> Void = { _, _, _ in }
    ) {
        (self.operations, self.room, self.observe) = (operations, room, observe)
        (requests, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.waiting))
    }

    /// Called where requests are answered: it waits for nothing.
    package func ask(_ app: AppID, _ pack: BasePack) {
        let wanted = Wanted(app: app, pack: pack)
        guard asked.withLockedValue({ $0.insert(wanted).inserted }) else { return }
        guard case .enqueued = queue.yield(wanted) else {
            asked.withLockedValue { _ = $0.remove(wanted) }
            return
        }
        asked.withLockedValue { if $0.count > Self.remembered { $0 = [wanted] } }
    }

    /// Goes on until graceful shutdown or cancellation; a pack that is being made then is left to the end of the process.
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
        // A name that nobody has heard of is no news.
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
