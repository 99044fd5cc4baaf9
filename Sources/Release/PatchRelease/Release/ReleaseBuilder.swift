package import PatchFormat
package import PatchStore
package import PatchCrypto
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Makes a signed release, from a described folder or from an edited base.
///
/// ```
/// describe ─▶ draft ─▶ sign entries ─▶ assemble ─▶ sign the role
/// ```
package struct ReleaseBuilder: Sendable {
    /// The slow steps.
    package enum Phase: Equatable, Sendable {
        case reading(PatchID)
        case signing
        case signingJSPatch
    }

    package let rootOfTrust: ReleaseTrust
    package let base: BaseRelease?
    /// The time of the release.
    ///
    /// The same time and files give the same release, except for the role's signatures.
    package let time: UTCTime
    /// The creation time in new manifests.
    ///
    /// Nil for none, so that manifests are the same on every channel.
    package let created: UTCTime?
    /// The validity of the role, from ``time``.
    package let validity: Duration
    /// The key for new entries.
    ///
    /// Without it, a release keeps the signatures of the base's entry key, and fails if it has a new entry.
    package let entrySigner: SigningKey?
    /// Older entry keys that are listed too, for devices whose installed entries were signed by them.
    package let keptEntryKeys: [PublicKey]
    package let roleSigners: [SigningKey]
    /// The key for JSPatch forms of scripts, if they are requested.
    package let jspatchSigner: SigningKey?
    /// The keys for packages of JSPatch's clients; nil makes no new packages.
    package let packageKeys: PackageKeys?
    package let files: any FileOperations
    package let progress: @Sendable (Phase, _ total: Int) -> Progress
    /// How the syntax of described scripts is checked.
    package let scriptParsing: ScriptParsing
    /// The proposal that this release implements.
    package var proposal: ProposalID?
    /// The behaviour of a promotion or rollback whose scripts need packages without a key.
    package var packageNeed = PackageDraft.Need.carried
    /// Scripts and packages that are stored only on the server, and are needed to make packages: see ``absent(for:source:)``.
    package var fetched: [SHA256Digest: [UInt8]] = [:]

    package init(
        rootOfTrust: ReleaseTrust,
        base: BaseRelease?,
        time: UTCTime,
        created: UTCTime? = nil,
        validity: Duration,
        entrySigner: SigningKey?,
        keptEntryKeys: [(file: FilePath, key: PublicKey)] = [],
        roleSigners: [SigningKey],
        jspatchSigner: SigningKey? = nil,
        packageKeys: PackageKeys? = nil,
        scriptParsing: ScriptParsing = .none,
        files: any FileOperations,
        progress: @escaping @Sendable (Phase, _ total: Int) -> Progress = { _, _ in { _ in } }
    ) throws(SigningError) {
        if let entrySigner {
            try rootOfTrust.checkEntryKey(entrySigner)
            try base?.checkUse(ofEntryKey: entrySigner)
        }
        if let jspatchSigner {
            try rootOfTrust.checkEntryKey(jspatchSigner)
            try base?.checkUse(ofJSPatchKey: jspatchSigner)
            guard jspatchSigner.publicKey != entrySigner?.publicKey else {
                throw .keyInTwoUses(jspatchSigner.file, also: SignedRelease.entries)
            }
        }
        for (file, key) in keptEntryKeys { try rootOfTrust.checkEntryKey(key, of: file) }
        self.rootOfTrust = rootOfTrust
        self.base = base
        self.time = time
        self.created = created
        self.validity = validity
        self.entrySigner = entrySigner
        self.keptEntryKeys = keptEntryKeys.map(\.key)
        self.roleSigners = roleSigners
        self.jspatchSigner = jspatchSigner
        self.packageKeys = packageKeys
        self.scriptParsing = scriptParsing
        self.files = files
        self.progress = progress
    }

    /// The default validity of a channel's role.
    package static func validity(of channel: ChannelName) -> Duration {
        channel.text == "production" ? .days(90) : .days(30)
    }

    /// Makes the release that `release.yaml` in `folder` describes.
    package func release(_ description: ReleaseDescription, in folder: FilePath) async throws(SigningError)
        -> MadeRelease
    {
        try description.check(against: rootOfTrust)
        try checkBase(description.channel)
        let described = try await describe(description, in: folder)
        let draft = try ReleaseDraft(described.patches, base: base?.contents)
        let packages = try description.packages(of: draft, over: base?.contents)
        return try await sign(draft, packages, channel: description.channel, described)
    }

    /// Makes a release from the base without a patch, or without one version of it.
    ///
    /// - Parameter earlier: A release that listed the version, for a version that the base does not list.
    package func withdraw(
        _ id: PatchID,
        version: VersionLabel?,
        from base: BaseRelease,
        listedBy earlier: BaseRelease? = nil
    ) async throws(SigningError) -> MadeRelease {
        if let earlier { try check(earlier.contents.app, earlier.contents.channel, in: earlier.place) }
        let (draft, packages) = try drafts(.withdraw(id, version: version), over: base, source: earlier)
        return try await sign(draft, packages, channel: base.contents.channel, DescribedContents())
    }

    /// Renews the base: the same list, the next role version, a new expiry, and signatures by the present keys.
    package func renew(_ base: BaseRelease) async throws(SigningError) -> MadeRelease {
        try await sign(ReleaseDraft(renewing: base.contents), channel: base.contents.channel, DescribedContents())
    }

    /// Makes a release of the base's channel with the list of another channel.
    ///
    /// Bundles stay the same, byte by byte. Only the entries are signed again, because they name the channel.
    ///
    /// - Parameter rollouts: The rollout ceilings of the newest versions of these patches, instead of the source's.
    package func promote(
        _ source: BaseRelease,
        to channel: ChannelName,
        rollouts: [PatchID: Int] = [:]
    ) async throws(SigningError) -> MadeRelease {
        try check(rootOfTrust.app, channel, in: source.place)
        if let entrySigner { try source.checkUse(ofEntryKey: entrySigner) }
        let change = ProposedChange.promote(from: source.contents.channel, rollouts: rollouts)
        let (draft, packages) = try drafts(change, over: base, source: source)
        return try await sign(draft, packages, channel: channel, DescribedContents(), source: source)
    }

    /// Makes a release with the list of an older release of the channel.
    package func rollBack(to older: BaseRelease) async throws(SigningError) -> MadeRelease {
        try check(rootOfTrust.app, older.contents.channel, in: older.place)
        if let entrySigner { try older.checkUse(ofEntryKey: entrySigner) }
        let (draft, packages) = try drafts(.rollBack(to: older.release.header.roleVersion), over: base, source: older)
        return try await sign(draft, packages, channel: older.contents.channel, DescribedContents(), source: older)
    }

    /// Makes a release from the base with other rules for one version.
    package func change(
        _ edit: RuleEdit,
        of id: PatchID,
        version: VersionLabel,
        in base: BaseRelease
    ) async throws(SigningError) -> MadeRelease {
        let (draft, packages) = try drafts(.rules(id, version: version, edit), over: base)
        return try await sign(draft, packages, channel: base.contents.channel, DescribedContents())
    }

    /// Applies a change to the base's list and wires.
    private func drafts(
        _ change: ProposedChange,
        over base: BaseRelease?,
        source: BaseRelease? = nil
    ) throws(SigningError) -> (ReleaseDraft, PackageDraft) {
        let gateways = base?.contents.list.gateways ?? []
        let draft: ReleaseDraft
        switch (change, base?.contents, source?.contents) {
        case (.promote(_, let rollouts), let base, let source?):
            draft = try ReleaseDraft(promoting: source, over: base, rollouts: rollouts)
            let promoted = source.list.gateways
            let packages = PackageDraft(
                carrying: gateways,
                promoting: promoted,
                of: source.channel,
                list: draft.listed,
                packageNeed
            )
            return (draft, packages)
        case (.rollBack, let base, let older?):
            draft = try ReleaseDraft(rollingBackTo: older, over: base)
            return (draft, PackageDraft(carrying: gateways, list: draft.listed, packageNeed))
        case (.withdraw(let id, let version), let base?, let earlier):
            draft = try ReleaseDraft(withdrawing: id, version: version, from: base, listedBy: earlier)
        case (.rules(let id, let version, let edit), let base?, _):
            draft = try ReleaseDraft(changing: edit, of: Label(patchID: id, version: version), in: base)
        case (.promote, _, nil), (.rollBack, _, nil), (.withdraw, nil, _), (.rules, nil, _):
            preconditionFailure("the base of a change is read first")
        }
        return (draft, PackageDraft(carrying: gateways, list: draft.listed))
    }

    /// The contents that the packages of a change need and that are not available, because a fetched release has no objects.
    package func absent(for change: ProposedChange, source: BaseRelease?) throws(SigningError) -> [SHA256Digest] {
        let (base, packages) = (base, try drafts(change, over: base, source: source).1)
        return PackageMaking(keys: packageKeys, files: files) {
            base?.release.objects[$0] ?? source?.release.objects[$0]
        }.absent(packages)
    }

    private func check(_ app: AppID, _ channel: ChannelName, in folder: FilePath) throws(SigningError) {
        guard app == rootOfTrust.app else {
            throw .foreign(folder, found: "app \(app)", expected: "app \(rootOfTrust.app)")
        }
        try checkBase(channel)
    }

    private func checkBase(_ channel: ChannelName) throws(SigningError) {
        guard let base else { return }
        guard base.contents.channel == channel else {
            throw .foreign(base.place, found: "channel \(base.contents.channel)", expected: "channel \(channel)")
        }
    }

    /// The entry key, or without one the base's entry key that signed all rows.
    ///
    /// A key that the base no longer lists is never used again: it may have been stolen.
    private func entrySigning(of draft: ReleaseDraft) throws(SigningError) -> EntrySigning {
        if let entrySigner { return EntrySigning(entrySigner) }
        let missing = SigningError.noKey("\(RootOfTrustPlan.entry).key", in: rootOfTrust.folder)
        let used = Set(draft.rows.map { $0.known?.keyID })
        guard let base else { throw missing }
        let keys = base.entryKeys.keys.values.sorted { EntryKeys.id(of: $0) < EntryKeys.id(of: $1) }
        let signed = keys.first { used.isEmpty || used == [EntryKeys.id(of: $0)] }
        guard let key = signed else { throw missing }
        try rootOfTrust.checkEntryKey(key, of: base.place)
        return EntrySigning(keeping: key, orElse: missing)
    }

    /// - Parameter packages: nil uses the base's wires.
    private func sign(
        _ draft: ReleaseDraft,
        _ packages: PackageDraft? = nil,
        channel: ChannelName,
        _ described: DescribedContents,
        source: BaseRelease? = nil
    ) async throws(SigningError) -> MadeRelease {
        let delegation = try rootOfTrust.delegation(to: channel)
        let assembly = ReleaseAssembly(
            app: rootOfTrust.app,
            channel: channel,
            draft: draft,
            described: described,
            base: base,
            source: source,
            validity: validity,
            proposal: proposal
        )
        let packages =
            packages ?? PackageDraft(carrying: base?.contents.list.gateways ?? [], list: draft.listed)
        if let signer = packageKeys?.signer, signer.signingKey == nil, packages.rows.isEmpty {
            throw .key(signer.file, .tooSmall(bits: signer.publicKey.bits))
        }
        let made = try PackageMaking(
            keys: packageKeys,
            files: files,
            object: { assembly.object($0) },
            fetched: fetched
        ).make(packages)
        let signing = try entrySigning(of: draft)
        let jobs = assembly.jobs(knownBy: signing.keyID)
        let progress = progress
        let signatures = try await signing.sign(jobs) { progress(.signing, $0) }
        let known = [base, source].flatMap { $0?.jspatchKeys.keys.values.map(\.self) ?? [] }
        let jspatch = try await JSPatchSigning(signer: jspatchSigner, base: JSPatchKeys(known))
            .sign(draft.rows) { progress(.signingJSPatch, $0) }
        var release = assembly.release(
            signatures: signatures.map(\.bytes),
            by: signing.publicKey,
            keeping: keptEntryKeys,
            jspatch: jspatch,
            gateways: made.gateways,
            making: made.objects,
            at: time
        )
        for signer in roleSigners { try release.sign(with: signer, for: delegation) }
        let new = signatures.count(where: \.isNew)
        return MadeRelease(
            release: release,
            signatures: SignatureCounts(made: new, kept: signatures.count - new),
            jspatch: jspatch.counts,
            leftOut: described.leftOut,
            recognitions: described.recognitions,
            warnings: described.warnings + made.warnings
        )
    }
}

/// A release in memory, ready to be written.
package struct MadeRelease: Sendable {
    package private(set) var release: SignedRelease
    /// The signatures of entries and assets.
    package let signatures: SignatureCounts
    /// The signatures in JSPatch's form.
    package let jspatch: SignatureCounts
    /// The excluded files and folders, by bundle.
    package let leftOut: [PatchID: [String]]
    /// New bundles with recognised routing, by bundle.
    package let recognitions: [PatchID: BundleRecognition]
    /// Valid but probably unintended parts of the description.
    package let warnings: [DescriptionError]

    /// Adds one key holder's signature to the role.
    package mutating func sign(with signer: SigningKey, for delegation: Delegation) throws(SigningError) {
        try release.sign(with: signer, for: delegation)
    }
}

extension SignedRelease {
    /// Adds one key holder's signature.
    ///
    /// - Throws: `.notASigner` if the channel does not list the key, `.keyInTwoUses` if it signs entries or their JSPatch forms.
    package mutating func sign(with signer: SigningKey, for delegation: Delegation) throws(SigningError) {
        try check(signer, for: delegation)
        var signed = role
        try signer.sign(&signed, for: delegation.keys)
        merge(signed.signatures)
    }

    /// Checks whether the key may sign.
    ///
    /// - Throws: the errors of ``sign(with:for:)``.
    package static var entries: String { "this release's entries" }
    package static var jspatchForms: String { "this release's JSPatch forms" }

    package func check(_ signer: SigningKey, for delegation: Delegation) throws(SigningError) {
        let (entryKeys, jspatchKeys): (EntryKeys, JSPatchKeys)
        do throws(FormatError) {
            entryKeys = try TargetsRole(role, name: header.channel.text).entryKeys
            jspatchKeys = try JSPatchKeys(role)
        } catch { throw .release(signer.file, .format(error)) }
        guard !entryKeys.keys.values.contains(signer.publicKey) else {
            throw .keyInTwoUses(signer.file, also: Self.entries)
        }
        guard !jspatchKeys.keys.values.contains(signer.publicKey) else {
            throw .keyInTwoUses(signer.file, also: Self.jspatchForms)
        }
        _ = try signer.listing(in: delegation.keys, role: role.role)
    }
}
