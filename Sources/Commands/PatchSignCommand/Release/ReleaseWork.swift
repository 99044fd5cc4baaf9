import CommandKit
import PatchDelta
import PatchFormat
import PatchRelease
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
import SystemPackage

/// The common part of `release` and `withdraw`: reads trust and base, opens keys, writes and reports the result.
struct ReleaseWork {
    var builder: ReleaseBuilder
    private let writer: ReleaseWriter
    /// Keys that sign the role of a proposal only after the user has agreed.
    private let heldBack: [SigningKey]
    private let expiry: ReleaseExpiry

    /// Performs cheap checks first, so that they fail before a passphrase is typed.
    ///
    /// - Parameters:
    ///   - source: A folder that must not be overwritten, besides the base's.
    ///   - output: Overrides the options' output.
    ///   - proposal: The proposal that the release implements. Its role is then signed only by ``signed(_:yes:names:)``.
    init(
        channel: ChannelName,
        base: BaseRelease?,
        trust: ReleaseTrust,
        time: UTCTime,
        created: UTCTime? = nil,
        making: MakingOptions,
        keys: KeyOptions,
        source: FilePath? = nil,
        output: FilePath? = nil,
        proposal: ProposalID? = nil
    ) throws(Failure) {
        let output = if let output { output } else { try making.outputFolder() }
        let kept = [("the source folder", source), ("the release that this one is made from", base?.folder)]
        let replacement = making.replacement(
            at: output,
            keys: keys.folder,
            besides: kept.compactMap { role, path in path.map { KeptFolder(role, $0) } }
        )
        writer = try signing { () throws(SigningError) in
            try ReleaseWriter(output, replacing: replacement, files: DiskFiles())
        }
        guard trust.targets.delegation(to: channel.text) != nil else {
            throw Failure(
                trust.absence(of: channel),
                hint: "`patchsign delegate` makes a channel; its key signs from then on",
                code: .refused
            )
        }
        let validity = making.expires?.duration ?? ReleaseBuilder.validity(of: channel)
        expiry = ReleaseExpiry(
            release: ReleaseExpiry.Role(channel.text, expires: time.adding(validity)),
            root: trust.root.header.expires,
            targets: trust.targets.header.expires
        )
        if !making.allowsExpired {
            try expiry.refuseExpired(
                at: ProcessEnvironment.latestPast,
                "\(MakingOptions.allowExpired) signs it all the same, to make an old release again"
            )
        }
        let roleKeys = try making.roleKeys(of: channel, in: keys.folder)
        let jspatchKey = try making.jspatchKey.map { (key) throws(Failure) in
            try KeyReference(argument: key, in: keys.folder)
        }
        let keptEntryKeys = try making.keptEntryKeyFiles(in: keys.folder)
        // A release of a folder has new entries. The others find out when they sign.
        let entryKey = try making.entryKey(in: keys.folder, isRequired: source != nil)
        let entrySigner = try entryKey.map { (key) throws(Failure) in try keys.open(key) }
        let packageKeys = try jspatchKey.map { (key) throws(Failure) in
            let encryption = try making.encryptionKey(in: keys.folder)
            return PackageKeys(
                signer: try keys.opening.openJSPatch(key),
                encryption: encryption,
                mayDiffer: making.otherPackageKeys
            )
        }
        var roleSigners: [SigningKey] = []
        for key in roleKeys { roleSigners.append(try keys.open(key)) }
        heldBack = proposal == nil ? [] : roleSigners
        builder = try signing { () throws(SigningError) in
            try ReleaseBuilder(
                rootOfTrust: trust,
                base: base,
                time: time,
                created: created,
                validity: validity,
                entrySigner: entrySigner,
                keptEntryKeys: keptEntryKeys,
                roleSigners: proposal == nil ? roleSigners : [],
                jspatchSigner: packageKeys?.signer.signingKey,
                packageKeys: packageKeys,
                scriptParsing: .installed,
                files: DiskFiles(),
                progress: proposal == nil ? Self.progress : Self.preparing
            )
        }
        builder.proposal = proposal
    }

    /// Shows the effect of a proposal, asks, and signs.
    ///
    /// - Parameter names: The number of files to list.
    func signed(_ made: MadeRelease, yes: Bool, names: NamesOption) throws(Failure) -> MadeRelease {
        guard !heldBack.isEmpty else { return made }
        let contents = try contents(of: made)
        if !yes {
            let console = Console.standardError
            let difference = ReleaseDifference(from: builder.base?.contents, to: contents)
            names.write(difference, to: console)
        }
        try Question.confirm(Question.release, yes: yes)
        var made = made
        try signing { () throws(SigningError) in
            let delegation = try builder.rootOfTrust.delegation(to: contents.channel)
            for signer in heldBack { try made.sign(with: signer, for: delegation) }
        }
        return made
    }

    func contents(of made: MadeRelease) throws(Failure) -> ReleaseContents {
        do throws(ReleaseError) { return try ReleaseContents(made.release) } catch {
            throw Failure(SigningError.release(writer.output, error))
        }
    }

    static func base(_ folder: FilePath, _ trust: ReleaseTrust) throws(Failure) -> BaseRelease {
        do throws(SigningError) {
            return try BaseRelease(
                folder: folder,
                rootOfTrust: trust,
                files: DiskFiles(),
                progress: reporter("Verifying the previous release")
            )
        } catch .incomplete(let path, let role, let valid, let needed) {
            // The server may have another holder's signature that this folder lacks.
            throw Failure(
                SigningError.incomplete(path, role: role, valid: valid, needed: needed).description,
                hint: "if it is published, download it from the server: --server URL in place of --previous; "
                    + "else the other key holders sign with `patchsign release sign`",
                code: .refused
            )
        } catch { throw Failure(error) }
    }

    /// Writes the release, and reports its contents and missing signatures.
    func finish(_ made: MadeRelease, json: Bool) throws(Failure) {
        try written(made).write(json: json)
    }

    /// Writes the release.
    func written(_ made: MadeRelease) throws(Failure) -> ReleaseReport {
        let verified = try signing { () throws(SigningError) in
            try writer.write(
                made.release,
                rootOfTrust: builder.rootOfTrust,
                base: builder.base,
                writing: reporter("Writing the release"),
                verifying: reporter("Verifying the written release")
            )
        }
        let contents = ReleaseContents(verified)
        let difference = ReleaseDifference(from: builder.base?.contents, to: contents)
        let console = Console.standardError
        for warning in made.warnings { console.line(ReleaseCheckReport.line(warning, on: console)) }
        expiry.warn(at: ProcessEnvironment.latestPast)
        return ReleaseReport(
            contents: contents,
            difference: difference,
            signatures: made.signatures,
            leftOut: made.leftOut,
            recognitions: made.recognitions,
            jspatch: made.jspatch,
            quorum: verified.quorum,
            signers: try builder.rootOfTrust.signatures(of: verified.release),
            folder: writer.output,
            mayReturn: builder.base?.contents.mayReturn(after: contents) ?? []
        )
    }

    /// The costs of updates to a release; nil for the first one of its channel.
    func updates(to made: MadeRelease, _ contents: ReleaseContents) async -> [UpdateStep]? {
        guard let base = builder.base else { return nil }
        let updates = ReleaseUpdates(from: base, to: made.release, contents, files: DiskFiles())
        return await updates.steps(progress: reporter("Weighing updates"))
    }

    private static let progress: @Sendable (ReleaseBuilder.Phase, Int) -> Progress = { phase, total in
        reporter(label(of: phase))(total)
    }

    /// Progress before the user is asked to sign the role.
    ///
    /// Entries are signed by the pipeline's key without approval, so the label avoids the word.
    private static let preparing: @Sendable (ReleaseBuilder.Phase, Int) -> Progress = { phase, total in
        reporter(phase == .signing ? preparingLabel : label(of: phase))(total)
    }

    static let preparingLabel = "Preparing entries"

    static func label(of phase: ReleaseBuilder.Phase) -> String {
        switch phase {
        case .reading(let id): "Reading \(id)"
        case .signing: "Signing entries"
        case .signingJSPatch: "Signing JSPatch forms"
        }
    }
}
