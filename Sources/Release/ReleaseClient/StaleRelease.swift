package import PatchFormat
import PatchTrust
package import ReleaseFolder

/// A release as far as it matters to the server that refused it.
package struct OfferedRelease: Equatable, Sendable {
    /// The release that it was made from; nil for a channel's first.
    package let base: ReleaseHeader.Base?
    /// Of its role's signed part.
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

/// Why a server refuses a release that was right when it was made.
///
/// Each case has one way on.
package enum StaleRelease: Equatable, Sendable {
    /// It was made from a draft, which still lacks signatures: complete that one first.
    case madeFromDraft(ChannelState.Draft)
    /// Another release waits for signatures in its place: complete that one, or give it up.
    case draftWaits(ChannelState.Draft)
    /// The server has no release as new as the one that this was made from.
    case ahead(current: Int)
    /// Another pipeline published the same versions: nothing is left to do.
    case listed(current: Int)
    /// Another pipeline published versions of the same names with other content.
    case otherContent([Label], current: Int)
    /// It lists versions that were withdrawn since.
    case withdrawn([Label], current: Int)
    /// It adds to an older release: make it again on the current one.
    case behind(current: Int)

    package init(_ release: OfferedRelease, on state: ChannelState) {
        let (base, current) = (release.base?.roleVersion ?? 0, state.current)
        // First the draft: a release that is made again would wait behind it.
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
