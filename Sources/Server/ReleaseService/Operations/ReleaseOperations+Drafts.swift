package import PatchFormat
package import PatchServer
package import ServerRecords

extension ReleaseOperations {
    /// Those of a channel, by version, also what cannot be read.
    package func drafts(of channel: ChannelName, in app: AppID) async throws(OperationError) -> [AppListing.DraftRow] {
        try await looking(app) { (repository) throws(ServerError) in
            try AppListing(of: repository).drafts.filter { $0.channel == channel }
        }
    }

    /// - Returns: nil where there is none.
    package func draft(
        of channel: ChannelName,
        version: Int,
        in app: AppID
    ) async throws(OperationError) -> WaitingDraft? {
        try await looking(app) { (repository) throws(ServerError) in
            guard let draft = try repository.tree.draft(of: channel, version: version) else { return nil }
            return try WaitingDraft(draft, in: try AppListing(of: repository), try PublishedState(of: repository))
        }
    }

    /// Gives a draft up, also one that cannot be read; it was never served.
    ///
    /// - Returns: whether there was one.
    package func removeDraft(
        of channel: ChannelName,
        version: Int,
        in app: AppID,
        by actor: Actor
    ) async throws(OperationError) -> Bool {
        let intent = Intent(.removeDraft(channel, version: version), of: app, by: actor)
        return try await change(intent) { () throws(OperationError) in
            try serving(app) { (repository) throws(ServerError) in
                guard try repository.tree.hasDraft(of: channel, version: version) else { return false }
                try repository.tree.removeDraft(of: channel, version: version)
                return true
            }
        } remembering: { (isGone, intent) throws(OperationError) in
            RecordedOutcome(event: isGone ? intent.event(after: .null) : nil)
        }
    }
}
