package import PatchFormat
import PatchTrust
package import ReleaseFolder

/// The parts of a release that explain why a server rejected it.
package struct OfferedRelease: Equatable, Sendable {
    /// The base of the release; nil for a channel's first.
    package let base: ReleaseHeader.Base?
    /// The digest of its role's signed part.
    package let identity: SHA256Digest
    package let listed: [Label: ChannelState.Version]

    package init(base: ReleaseHeader.Base?, identity: SHA256Digest, listed: [Label: ChannelState.Version]) {
        self.base = base
        self.identity = identity
        self.listed = listed
    }

    /// Reads the contents that a release declares, without verification.
    package init(_ release: SignedRelease) {
        let bytes = release.targets[.patchList(release.header.channel)] ?? []
        let entries = (try? ParsedPatchList(bytes))?.list.entries ?? []
        self.init(
            base: release.header.base,
            identity: release.role.identity,
            listed: Dictionary(entries.map { ($0.label, ChannelState.Version($0)) }) { first, _ in first }
        )
    }
}

/// The reason why a server rejects a release that was valid when it was made.
///
/// Each case has one remedy.
package enum StaleRelease: Equatable, Sendable {
    /// It was made from a draft that still lacks signatures. The draft must be completed first.
    case madeFromDraft(ChannelState.Draft)
    /// Another release waits for signatures in its place. That draft must be completed or abandoned.
    case draftWaits(ChannelState.Draft)
    /// The server has no release as new as this one's base.
    case ahead(current: Int)
    /// Another pipeline published the same versions, so nothing remains to be done.
    case listed(current: Int)
    /// Another pipeline published the same labels with other content.
    case otherContent([Label], current: Int)
    /// It lists versions that have been withdrawn since.
    case withdrawn([Label], current: Int)
    /// Its base is older than the current release. It must be made again from the current one.
    case behind(current: Int)

    package init(_ release: OfferedRelease, on state: ChannelState) {
        let (base, current) = (release.base?.roleVersion ?? 0, state.current)
        // The draft is checked first, because a release made again would have to wait for it.
        if let draft = state.draft, draft.identity != release.identity {
            let isBase = draft.version == base && draft.identity == release.base?.sha256
            self = isBase ? .madeFromDraft(draft) : .draftWaits(draft)
            return
        }
        guard base <= current, current > 0 else {
            self = .ahead(current: current)
            return
        }
        let gone = release.listed.filter { label, version in
            state.withdrawn.contains {
                $0.key == label || ($0.key.patchID == label.patchID && $0.value == version.sha256)
            }
        }
        let others = release.listed.filter { label, version in
            state.listed[label].map { $0.sha256 != version.sha256 } ?? false
        }
        if !gone.isEmpty {
            self = .withdrawn(Self.sorted(gone), current: current)
        } else if !others.isEmpty {
            self = .otherContent(Self.sorted(others), current: current)
        } else if release.listed == state.listed {
            self = .listed(current: current)
        } else {
            self = .behind(current: current)
        }
    }

    private static func sorted(_ versions: [Label: ChannelState.Version]) -> [Label] {
        versions.keys.sorted { ($0.patchID, $0.version.text) < ($1.patchID, $1.version.text) }
    }
}
