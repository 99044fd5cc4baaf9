package import PatchFormat
package import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
package import ServerRecords
import SystemPackage

/// Finds and removes an app's files that are no longer needed, taking uploads and open proposals into account.
package struct GarbageRun: Sendable {
    /// The pause between two batches, in which other processes can use the folder.
    private static let breath = Duration.milliseconds(200)

    private let operations: ReleaseOperations
    private let app: AppID
    private let rule: GarbageRule

    package init(of app: AppID, by rule: GarbageRule, _ operations: ReleaseOperations) {
        (self.app, self.rule, self.operations) = (app, rule, operations)
    }

    package func find() async throws(OperationError) -> GarbagePlan {
        let (now, wanted) = (operations.records.now(), try await pins(with: try await uploadPins()))
        return try await operations.looking(app) { (repository) throws(ServerError) in
            try FindGarbage(in: repository, by: rule, at: now, pinning: wanted).run()
        }
    }

    /// Removes the files in batches, so that other processes can publish in between.
    ///
    /// The audit entry is written before any file is removed. A process that ends in the middle leaves a complete tree, and the
    /// next collection removes the rest.
    package func run(by actor: Actor) async throws(OperationError) -> CollectGarbage.Tally {
        var collection: CollectGarbage
        do throws(ServerError) {
            collection = CollectGarbage(try operations.repository(app), by: rule, at: operations.records.now())
        } catch { throw .server(error) }
        collection = try await begin(collection, actor)
        var isMore = true
        while isMore {
            let current = collection
            // Read without the lock: an upload that begins later, or that takes long, requests deleted files again.
            let uploads = try await uploadPins()
            (collection, isMore) = try await operations.inTurn { () async throws(OperationError) in
                let wanted = try await pins(with: uploads)
                return try await operations.looking(app) { (repository) throws(ServerError) in
                    var next = current
                    let isMore = try next.step(pinning: wanted)
                    return (next, isMore)
                }
            }
            // Other writers try the lock periodically: an operator's pause must not wait for the whole collection.
            if isMore { try? await Task.sleep(for: Self.breath, clock: .continuous) }
        }
        return collection.removed
    }

    private func begin(
        _ collection: CollectGarbage,
        _ actor: Actor
    ) async throws(OperationError) -> CollectGarbage {
        let uploads = try await uploadPins()
        return try await operations.inTurn { () async throws(OperationError) in
            // The tree must still contain the evidence that an intent depends on.
            _ = try await SettleIntents(operations).left(of: app)
            let wanted = try await pins(with: uploads)
            let (begun, plan) = try await operations.looking(app) { (repository) throws(ServerError) in
                var begun = collection
                return (begun, try begun.look(pinning: wanted))
            }
            guard !plan.isEmpty else { return begun }
            let event = AuditEntry.Event("garbage.collect", by: actor, app: app, after: plan.audited(by: rule))
            try await operations.reading { () async throws(RecordError) in
                try await operations.records.commit([], noting: event)
            }
            return begun
        }
    }

    /// Files that uploads need; nothing is locked.
    private func uploadPins() async throws(OperationError) -> GarbagePins {
        try await operations.reading(documentsOf: app) { () throws(OperationError) in
            try operations.serving(app) { (repository) throws(ServerError) in
                GarbagePins.none.with(uploadsTo: repository, operations.files)
            }
        }
    }

    /// The pins of uploads, and the releases that open proposals roll back to.
    private func pins(with uploads: GarbagePins) async throws(OperationError) -> GarbagePins {
        let channels = try await operations.looking(app) { (repository) throws(ServerError) in
            try PublishedState(of: repository).targets.delegations.compactMap { ChannelName($0.name) }
        }
        var pins = uploads
        for channel in channels {
            for proposal in try await Proposals(operations).open(of: channel, in: app) {
                guard case .rollBack(let version) = proposal.change else { continue }
                pins.releases[channel, default: []].insert(version)
            }
        }
        return pins
    }
}

extension GarbagePins {
    /// Adds the files that uploads did not have to send, because the tree has them.
    ///
    /// An unreadable upload pins nothing, and neither does one whose documents would take long to read: it requests deleted files
    /// again.
    fileprivate func with(uploadsTo repository: AppRepository, _ files: any FileOperations) -> GarbagePins {
        let folder = repository.folder.uploads.at(repository.app.text)
        var pins = self
        for id in (try? files.list(folder)) ?? [] {
            let counted = try? GarbagePins(ofUploadAt: folder.at(id), to: repository, files: files)
            if let counted { pins.merge(counted) }
        }
        return pins
    }
}

extension GarbagePlan {
    /// The collection's part of the audit entry.
    fileprivate func audited(by rule: GarbageRule) -> JSON {
        let stages = Stage.allCases.compactMap { stage -> (String, JSON?)? in
            guard let items = items[stage], !items.isEmpty else { return nil }
            return (stage.rawValue, .integer(items.count))
        }
        return .fields(
            [
                ("keep", .integer(rule.keep)), ("protectSeconds", .integer(Int(rule.protect.components.seconds))),
                ("files", .integer(count)), ("bytes", .integer(bytes)),
            ] + stages
        )
    }
}
