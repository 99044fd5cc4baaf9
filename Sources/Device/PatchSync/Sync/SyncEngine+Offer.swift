import PatchFetch
import PatchFormat
import PatchCrypto
import PatchTrust

/// The first step of a sync: the verified offer of the channel.
extension SyncEngine {
    /// The verified list, role and dial of the channel.
    struct ChannelOffer {
        let list: VerifiedList
        let role: TargetsRole
        let dial: Dial?
        /// The time that expiry was checked against.
        let time: UTCTime
        let staleMirror: StaleMirror?
        let parameters: ParametersUpdate
    }

    /// The newest offer of the servers.
    ///
    /// The next server is asked only if one fails or is behind.
    func refresh() async throws(SyncError) -> ChannelOffer {
        var attempts = Attempts(deadlines)
        while true {
            var offer: ChannelOffer?
            var errors: [SyncError] = []
            // After a success, only faults that another server compensated for are reported.
            var faults: [MirrorFault] = []
            for source in sources.inOrder {
                do throws(SyncError) {
                    let found = try await self.offer(from: source, at: ReferenceTime(clock: now(), build: build))
                    // All offers use one store in which versions never decrease, so the last one is the newest.
                    offer = found
                    guard let stale = found.staleMirror else { break }
                    faults.append(MirrorFault(server: source.name, wrong: .stale(stale)))
                } catch {
                    if error.isOwn { throw error }
                    faults.append(MirrorFault(server: source.name, wrong: .failed(error)))
                    errors.append(error)
                }
            }
            if let offer {
                faults.forEach(sources.note)
                return offer
            }
            let next = attempts.failed(errors.compactMap(\.fetchError), progress: false, random: timing.random())
            guard let first = errors.first, case .again(let wait) = next else {
                throw errors.first { $0.fetchError?.isNetwork != true } ?? errors[0]
            }
            if let error = await transfers.pause(wait, because: first) { throw error }
        }
    }

    /// The channel's role version if it is higher than `version`, from the first server that answers.
    ///
    /// The result is also nil if no server answers.
    func newerList(than version: Int) async -> Int? {
        for source in sources.inOrder {
            let refresh = MetadataRefresh(of: store, fetcher: source.fetcher, deadlines: deadlines)
            let time = ReferenceTime(clock: now(), build: build)
            guard let refreshed = try? await refresh.refresh(channel: configuration.channel, at: time),
                let role = refreshed.repository.role(configuration.channel.text)
            else { continue }
            return role.header.version > version ? role.header.version : nil
        }
        return nil
    }

    /// Uses an express answer only if its offer is up to date.
    ///
    /// In all other cases the individual metadata files decide.
    private func offer(from source: Source, at time: ReferenceTime) async throws(SyncError) -> ChannelOffer {
        var express = try await express(from: source, at: time.value)
        var offer: ChannelOffer?
        if let prefilled = express.fetcher {
            do throws(SyncError) {
                offer = try await self.offer(by: prefilled, at: time, refusingOlder: true)
            } catch {
                if error.isOwn || error.fetchError?.isNetwork == true { throw error }
                sources.giveUpExpress(of: source)
                report(.expressIgnored(server: source.name, because: error))
                express.record = nil
            }
        }
        let found: ChannelOffer
        if let offer { found = offer } else { found = try await self.offer(by: source.fetcher, at: time) }
        if let record = express.record, record != store.expressRecord(of: configuration.channel) {
            store.save(record, of: configuration.channel)
        }
        return found
    }

    private func offer(
        by fetcher: any Fetcher,
        at time: ReferenceTime,
        refusingOlder: Bool = false
    ) async throws(SyncError) -> ChannelOffer {
        let channel = configuration.channel
        var refresh = MetadataRefresh(of: store, fetcher: fetcher, deadlines: deadlines)
        refresh.atCommitPoint = atCommitPoint
        let refreshed = try await refresh.refresh(channel: channel, at: time)
        if refusingOlder, let stale = refreshed.staleMirror {
            throw .trust(.rolledBack(role: "timestamp", offered: stale.offered, trusted: stale.known))
        }
        var repository = refreshed.repository
        guard let role = repository.role(channel.text) else {
            preconditionFailure("refreshed without its role")
        }
        let path = TargetPath.patchList(channel)
        let file: TargetFile
        do throws(TrustError) { file = try repository.target(path, of: channel.text) } catch { throw .trust(error) }
        let list = try await verifiedList(path, file, role, fetcher)
        report(.verified(roleVersion: list.roleVersion, entries: list.entries.count))
        for refused in list.refused { report(.refused(refused)) }
        return ChannelOffer(
            list: list,
            role: role,
            dial: await refresh.dial(app: configuration.app, in: store, of: channel, &repository),
            time: refreshed.time,
            staleMirror: refreshed.staleMirror,
            parameters: takesParameters
                ? await refresh.parameters(app: configuration.app, in: store, of: channel, &repository) : .unchanged
        )
    }

    private func verifiedList(
        _ path: TargetPath,
        _ file: TargetFile,
        _ role: TargetsRole,
        _ fetcher: any Fetcher
    ) async throws(SyncError) -> VerifiedList {
        let (app, channel) = (configuration.app, configuration.channel)
        func verify(_ bytes: [UInt8]) throws(TrustError) -> VerifiedList {
            try VerifiedList(bytes, for: app, channel: channel, file: file, role: role)
        }
        if let known = try store.patchList(of: channel), file.matches(known), let list = try? verify(known) {
            return list
        }
        let sha256: SHA256Digest
        do throws(TrustError) { sha256 = try file.requiredSHA256(of: path.text) } catch { throw .trust(error) }
        let request = FetchRequest(
            URLLayout.target(path, sha256: sha256),
            limit: min(file.length, Limits.patchList),
            deadline: deadlines.document
        )
        let (list, bytes) = try await fetcher.document(request) { bytes throws(SyncError) in
            do throws(TrustError) { return (try verify(bytes), bytes) } catch { throw .trust(error) }
        }
        try store.savePatchList(bytes, of: channel)
        return list
    }
}

extension TargetFile {
    func matches(_ bytes: [UInt8]) -> Bool {
        (try? check(bytes, name: "")) != nil
    }
}
