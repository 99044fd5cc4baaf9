import CommandKit
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseClient
import ReleaseFolder
import SystemPackage

/// Makes a release from a proposed change and the published release, shows it, and signs it.
struct ProposalWork {
    /// The presentation of the difference before anything is signed.
    struct Asking {
        let yes: Bool
        let names: NamesOption
        /// Whether a promotion may list versions below the channel's newest; see ``PromotionBack``.
        let mayGoBack: Bool
    }

    /// The result of a proposal.
    enum Outcome {
        case made(ReleaseReport)
        /// The channel has the same list already.
        case unchanged(base: ReleaseContents)
        /// The version is withdrawn already.
        case alreadyWithdrawn(WithdrawnVersion, base: ReleaseContents)
    }

    let server: ServerOptions
    let channel: ChannelName
    let making: MakingOptions
    let keys: KeyOptions
    let time: UTCTime
    let asking: Asking
    let memory: MemoryOptions
    let packages: PackageOptions
    let trust: ReleaseTrust
    let folder: PulledFolder

    /// Makes the release of a proposal, which is fetched only once, so that the shown, made and signed change are the same.
    ///
    /// - Parameters:
    ///   - asked: The change that the proposal must contain; nil for another user's proposal, whose content is shown.
    ///   - onlyIfChanged: Whether a release with the current list is skipped.
    /// - Returns: the release, or the reason why none is needed. In that case nothing is written.
    func run(
        _ id: ProposalID,
        asked: ProposedChange?,
        onlyIfChanged: Bool
    ) async throws(Failure) -> Outcome {
        let root = try trust.rootBytes()
        let (channel, app) = (channel, trust.app)
        let memory = try memory.ofServer(try server.url(), app: app)
        let (seen, proposal, base, source) = try await server.asking { client throws(ServiceError) in
            let proposal = try await client.proposal(id, asked: asked, of: channel, in: app)
            let published = try await PublishedApp(
                app,
                root: root,
                at: ProcessEnvironment.latestPast,
                knowing: memory.known,
                from: client
            )
            let base = try await published.release(of: channel)
            var source: SignedRelease?
            switch proposal.change {
            case .promote(let from, _):
                source = try await published.release(of: from)
                if source == nil { throw .noRelease(from) }
            case .rollBack(let version): source = try await published.release(of: channel, version: version)
            case .withdraw:
                if base == nil { throw .noRelease(channel) }
                if let version = proposal.listedIn {
                    source = try await published.release(of: channel, version: version, namedBy: "listedIn")
                }
            case .rules: if base == nil { throw .noRelease(channel) }
            }
            return (published.seen, proposal, base, source)
        }
        await memory.keep(seen)
        guard proposal.isOpen else {
            throw Failure("the proposal \(id) is done already", code: .conflict)
        }
        Console.standardError.line(printable(proposal.words(channel: channel)))
        let parts = [(PulledFolder.base, base), (PulledFolder.source, source)]
        _ = try signing { () throws(SigningError) in
            try folder.write(parts.compactMap { name, release in release.map { (name, $0) } }, rootOfTrust: trust)
        }
        do throws(Failure) {
            let outcome = try await make(
                proposal,
                onlyIfChanged,
                base: try base.map { (_) throws(Failure) in try ReleaseWork.base(place(PulledFolder.base), trust) },
                source: try source.map { (_) throws(Failure) in try ReleaseWork.base(place(PulledFolder.source), trust)
                }
            )
            switch outcome {
            case .made: break
            case .unchanged, .alreadyWithdrawn: try? DiskFiles().removeTree(folder.output)
            }
            return outcome
        } catch {
            // An unsigned release must not remain, because it could be mistaken for a signed one.
            try? DiskFiles().removeTree(folder.output)
            throw error
        }
    }

    private func place(_ name: String) -> FilePath { folder.output.at(name) }

    /// Downloads scripts that remain in the list and are stored only on the server, but are needed to make a package.
    private func fetched(_ absent: [SHA256Digest]) async throws(Failure) -> [SHA256Digest: [UInt8]] {
        guard !absent.isEmpty else { return [:] }
        let app = trust.app
        return try await server.asking { client throws(ServiceError) in
            var objects: [SHA256Digest: [UInt8]] = [:]
            for digest in absent { objects[digest] = try await client.object(digest, of: app) }
            return objects
        }
    }

    private func make(
        _ proposal: ServiceProposal,
        _ onlyIfChanged: Bool,
        base: BaseRelease?,
        source: BaseRelease?
    ) async throws(Failure) -> Outcome {
        if case .withdraw(let id, let version) = proposal.change, let base = base?.contents,
            let gone = base.withdrawal(of: id, version: version)
        {
            return .alreadyWithdrawn(gone, base: base)
        }
        // Before a passphrase is typed for a signature that cannot be confirmed.
        if onlyIfChanged, case .withdraw = proposal.change, !making.unsigned {
            try Question.requireConfirmation(yes: asking.yes)
        }
        var work = try ReleaseWork(
            channel: channel,
            base: base,
            trust: trust,
            time: time,
            making: making,
            keys: keys,
            output: place(PulledFolder.release),
            proposal: proposal.id
        )
        work.builder.packageNeed = packages.need
        work.builder.fetched = try await fetched(
            try signing { [work] () throws(SigningError) in
                try work.builder.absent(for: proposal.change, source: source)
            }
        )
        let made = try await signing { () async throws(SigningError) in
            try await work.builder.carryOut(proposal.change, in: channel, source: source)
        }
        let contents = try work.contents(of: made)
        if onlyIfChanged, let base = base?.contents, contents.listsTheSame(as: base) {
            return .unchanged(base: base)
        }
        if !asking.mayGoBack, case .promote = proposal.change {
            try PromotionBack.refuse(StepBack.all(from: base?.contents, to: contents), in: channel)
        }
        return .made(try work.written(try work.signed(made, yes: asking.yes, names: asking.names)))
    }
}

extension ReleaseBuilder {
    fileprivate func carryOut(
        _ change: ProposedChange,
        in channel: ChannelName,
        source: BaseRelease?
    ) async throws(SigningError) -> MadeRelease {
        switch (change, base, source) {
        case (.promote(_, let rollouts), _, let source?):
            try await promote(source, to: channel, rollouts: rollouts)
        case (.rollBack, _, let source?): try await rollBack(to: source)
        case (.withdraw(let id, let version), let base?, let earlier):
            try await withdraw(id, version: version, from: base, listedBy: earlier)
        case (.rules(let id, let version, let edit), let base?, _):
            try await self.change(edit, of: id, version: version, in: base)
        case (.promote, _, nil), (.rollBack, _, nil), (.withdraw, nil, _), (.rules, nil, _):
            preconditionFailure("the base of a change is fetched first")
        }
    }
}
