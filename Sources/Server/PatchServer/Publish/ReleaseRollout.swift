package import PatchFormat
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// The settings that decide how a release's new versions begin.
package struct ReleaseRollout: Hashable, Sendable {
    package static let none = ReleaseRollout()

    /// The rollout options of the caller, or of the draft.
    package let wish: StartingRollout?
    /// The channel's default, in devices of 10,000, for new versions without their own option.
    package let usual: Int?

    package init(_ wish: StartingRollout? = nil, default usual: Int? = nil) {
        (self.wish, self.usual) = (wish, usual)
    }
}

extension ReleaseRollout {
    /// The versions that begin restricted if this release is published now; none if it is the current one already.
    package func starts(of verified: VerifiedRelease, in repository: AppRepository) throws(ServerError)
        -> [StartedVersion]
    {
        guard self != .none else { return [] }
        let state = try PublishedState(of: repository)
        let (release, channel) = (verified.release, verified.release.header.channel)
        guard state.channels[channel]?.identity != release.role.identity else { return [] }
        let before = repository.listed(in: channel, state)
        return try starts(of: verified, after: before, in: state, knowing: try repository.labels())
    }

    /// - Parameter before: The entries of the previous release; nil if they cannot be read.
    func starts(
        of verified: VerifiedRelease,
        after before: [PatchEntry]?,
        in state: PublishedState,
        knowing labels: PublishedLabels
    ) throws(ServerError) -> [StartedVersion] {
        guard self != .none else { return [] }
        let channel = verified.release.header.channel
        // An interrupted publish may have written the labels of this release.
        let known = labels.published(in: state).rows
        let new = NewVersions(verified.list.entries, after: before ?? []) { known[$0]?.channel == channel }
        do throws(DialRefusal) {
            return try new.starts(by: wish, default: usual, in: channel)
        } catch { throw .dial(error) }
    }
}
