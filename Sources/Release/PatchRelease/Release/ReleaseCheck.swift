package import PatchFormat
package import PatchStore
import PatchCrypto
import PatchTrust
package import SystemPackage

/// Checks a description and its files completely, before a key is opened.
package struct ReleaseCheck: Sendable {
    package let app: AppID?
    package let channel: ChannelName?
    /// All mistakes, in line order.
    package let mistakes: [DescriptionError]
    package let warnings: [DescriptionError]
    /// Requirements that depend on the previous release, if that was not given.
    package let notJudged: [DescriptionError]
    /// New bundles with recognised routing, by bundle.
    package let recognitions: [PatchID: BundleRecognition]
    /// Whether the release's list would differ from the previous one; nil if unknown.
    package let isChanged: Bool?

    /// - Parameters:
    ///   - described: The description if `folder` has none. Its paths are relative to `folder`.
    ///   - trust: Checks app and channel; nil skips this.
    ///   - base: The previous release.
    package init(
        folder: FilePath,
        described: ReleaseDescription? = nil,
        trust: ReleaseTrust?,
        base: BaseRelease?,
        scriptParsing: ScriptParsing = .none,
        files: any FileOperations,
        progress: @Sendable (PatchID, Int) -> Progress
    ) async throws(SigningError) {
        let reading: DescriptionReading
        if let described {
            reading = DescriptionReading(of: described)
        } else {
            reading = try DescriptionReading(folder: folder, files: files)
        }
        (app, channel) = (reading.app, reading.channel)
        var mistakes = reading.mistakes
        if let trust { mistakes += reading.misplaced(in: trust) }
        if let base, let channel = reading.channel, base.contents.channel != channel {
            let rule = "is \(channel), but the release before it is for \(base.contents.channel)"
            mistakes.append(reading.places.error("channel", rule))
        }
        var contents = DescribedContents()
        let look = DescribedFiles(
            folder: folder,
            app: reading.app ?? trust?.app ?? Self.anyApp,
            places: reading.places,
            base: base?.contents,
            created: nil,
            files: files
        )
        for (index, patch) in reading.patches {
            do throws(SigningError) {
                try await look.add(patch, at: index, to: &contents) { progress(patch.patchID, $0) }
            } catch .described(let place, let problem) {
                mistakes += problem.mistakes(at: place)
            }
        }
        let scripts = ScriptInspection(
            parsing: scriptParsing,
            hosts: reading.hosts,
            folder: folder,
            places: reading.places,
            files: files
        )
        let findings = try scripts.findings(in: contents.scripts)
        mistakes += findings.mistakes.map(\.0)
        var warnings = reading.warnings + contents.warnings + contents.warningsOfAll + findings.warnings
        var notJudged: [DescriptionError] = []
        var isChanged: Bool?
        // An incomplete list is not checked further.
        if mistakes.isEmpty {
            do throws(SigningError) {
                let draft = try ReleaseDraft(contents.patches, base: base?.contents)
                isChanged = base.map { !draft.isAlreadyListed(in: $0.contents) }
                warnings += reading.unmarked(in: draft)
                let packages = reading.packages(in: draft, over: base?.contents)
                mistakes += packages.mistakes
                warnings += packages.warnings
            } catch {
                if case .unmet = error, base == nil {
                    for (label, id) in ReleaseDraft.unmet(contents.patches) {
                        let error = SigningError.unmet(label, requires: id)
                        let place = reading.place(of: error)
                        if contents.patches.contains(where: { $0.patch.patchID == id && $0.patch.keepsOthers }) {
                            let rule = ": \(error), unless the release before it lists one that stays"
                            notJudged.append(reading.places.error(place, rule))
                        } else {
                            mistakes.append(reading.places.error(place, ": \(error)"))
                        }
                    }
                } else {
                    mistakes.append(reading.places.error(reading.place(of: error), ": \(error)"))
                }
            }
        }
        self.mistakes = mistakes.inOrder
        self.warnings = warnings.inOrder
        self.notJudged = notJudged.inOrder
        recognitions = contents.recognitions
        self.isChanged = isChanged
    }

    /// Any app will do, because nothing is signed.
    private static var anyApp: AppID {
        guard let app = AppID("any") else { preconditionFailure("a name of letters is an app's") }
        return app
    }
}

extension DescribedPatch {
    /// Whether versions of the base stay listed behind this one.
    fileprivate var keepsOthers: Bool { keep > 0 || !rules.isForEveryone }
}

extension DescriptionReading {
    /// The field that an error of the whole list refers to.
    fileprivate func place(of error: SigningError) -> String {
        let label: Label
        let key: String
        switch error {
        case .republished(let found, _), .withdrawn(let found, _): (label, key) = (found, "version")
        case .unmet(let found, _): (label, key) = (found, "requires")
        default: return "patches"
        }
        let index = patches.first { $0.patch.label == label }?.index
        return index.map { "patches[\($0)].\(key)" } ?? "patches"
    }

    /// The mistakes and warnings about `jspatch`.
    fileprivate func packages(
        in draft: ReleaseDraft,
        over base: ReleaseContents?
    ) -> (mistakes: [DescriptionError], warnings: [DescriptionError]) {
        do throws(PackageDraft.Problem) {
            let packages = try PackageDraft(jspatch, list: draft.listed, over: base?.list.gateways ?? [])
            return ([], packages.warnings.map { places.error($0.field, $0.rule) })
        } catch { return ([places.error(error.field, error.rule)], []) }
    }

    fileprivate func unmarked(in draft: ReleaseDraft) -> [DescriptionError] {
        draft.unmarkedRequirements.compactMap { label, required in
            guard let index = patches.first(where: { $0.patch.label == label })?.index else { return nil }
            let rule = ": devices that install only security versions wait for \(required)"
            return places.error("patches[\(index)].security", rule)
        }
    }

    /// Errors for an app and a channel that the root of trust does not contain.
    fileprivate func misplaced(in trust: ReleaseTrust) -> [DescriptionError] {
        [
            app.flatMap { $0 == trust.app ? nil : places.otherApp(trust) },
            channel.flatMap { trust.targets.delegation(to: $0.text) == nil ? places.noChannel($0, trust) : nil },
        ].compactMap(\.self)
    }
}

extension ReleaseDescription {
    /// The described packages, for a draft made from this description.
    func packages(of draft: ReleaseDraft, over base: ReleaseContents?) throws(SigningError) -> PackageDraft {
        do throws(PackageDraft.Problem) {
            return try PackageDraft(jspatch, list: draft.listed, over: base?.list.gateways ?? [])
        } catch { throw .description(places.error(error.field, error.rule)) }
    }

    /// Checks that the root of trust contains the app and the channel.
    package func check(against trust: ReleaseTrust) throws(SigningError) {
        guard app == trust.app else { throw .elsewhere(places.otherApp(trust)) }
        guard trust.targets.delegation(to: channel.text) != nil else {
            throw .elsewhere(places.noChannel(channel, trust))
        }
    }
}

extension DescriptionPositions {
    fileprivate func otherApp(_ trust: ReleaseTrust) -> DescriptionError {
        error("app", "must be \(trust.app), as \(trust.folder.at(ReleaseTrust.rootFile)) has it")
    }

    fileprivate func noChannel(_ channel: ChannelName, _ trust: ReleaseTrust) -> DescriptionError {
        error("channel", ": \(trust.absence(of: channel))")
    }
}

extension ReleaseTrust {
    /// `com.acme.kiosk has no channel staging; it has beta, production`.
    package func absence(of channel: ChannelName) -> String {
        let known = targets.delegations.compactMap { ChannelName($0.name)?.text }.sorted()
        return "\(app) has no channel \(channel); it has \(known.joined(separator: ", "))"
    }
}
