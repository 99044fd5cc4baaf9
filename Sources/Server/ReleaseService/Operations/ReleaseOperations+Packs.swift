package import PatchFormat
package import PatchServer

extension ReleaseOperations {
    /// Makes packs that lead to what a channel lists now, and puts them into its tree; what stands there stays.
    ///
    /// They are transport: nothing that is published changes, and no record speaks of them.
    /// - Returns: the files written.
    package func makePacks(
        of channel: ChannelName,
        in app: AppID,
        _ wanted: WantedPacks
    ) async throws(OperationError) -> TreeChange {
        let made: CompressedForms
        do throws(ServerError) { made = try await MakePacks(of: channel, wanted, in: repository(app)).run() } catch {
            throw .server(error)
        }
        defer { made.discard(files) }
        guard made.count > 0 else { return .nothing }
        return try await inTurn { () async throws(OperationError) in
            try await looking(app) { (repository) throws(ServerError) in
                try WriteTree(adding: made, in: repository).run()
            }
        }
    }
}
