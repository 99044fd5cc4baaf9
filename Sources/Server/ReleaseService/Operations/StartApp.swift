import PatchFormat
package import PatchServer
package import PatchTrust
package import ServerRecords

/// Creates an app, and records the operator; see ``CreateApp``.
package struct StartApp: Sendable {
    private let operations: ReleaseOperations
    private let trust: RootOfTrust
    private let actor: Actor

    package init(_ trust: RootOfTrust, by actor: Actor, _ operations: ReleaseOperations) {
        (self.trust, self.actor, self.operations) = (trust, actor, operations)
    }

    package func run(onlineKey key: OnlineKey) async throws(OperationError) {
        let now = operations.records.now()
        _ = try await RecordedChange(Intent(.create, of: trust.app, by: actor), by: operations) {
            () throws(OperationError) in
            do throws(ServerError) {
                return try CreateApp(
                    trust,
                    onlineKey: key,
                    in: operations.folder,
                    files: operations.files,
                    allowsTestingKeys: operations.allowsTestingKeys
                ).run(at: now).trustSummary()
            } catch { throw .server(error) }
        } remembering: { (summary, intent) throws(OperationError) in
            RecordedOutcome(event: intent.event(after: summary))
        }.run()
    }

    /// Creates it with an uploaded key, which this server's passphrase must open.
    package func run(onlineKeyFile file: [UInt8]) async throws(OperationError) {
        try await run(onlineKey: try await operations.uploadedKey(file, for: trust.app))
    }
}
