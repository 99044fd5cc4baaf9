package import PatchFormat
import PatchCrypto
import PatchTrust
package import ReleaseFolder

/// The settings that decide how a release's new versions begin.
package struct ReleaseRollout: Hashable, Sendable {
    package static let none = ReleaseRollout()

    /// The caller's, or the draft's.
    package let wish: StartingRollout?
    /// The channel's default, in devices of 10,000; for new versions that the wish does not mention.
    package let usual: Int?

    package init(_ wish: StartingRollout? = nil, default usual: Int? = nil) {
        (self.wish, self.usual) = (wish, usual)
    }
}

extension AppRepository {
    /// The versions that begin restricted if this release is published now; none if it is the current one already.
    package func starts(
        of verified: VerifiedRelease,
        by rollout: ReleaseRollout
    ) throws(ServerError) -> [StartedVersion] {
        let state = try PublishedState(of: self)
        let release = verified.release
        guard state.channels[release.header.channel]?.identity != release.role.identity else { return [] }
        return try starts(of: verified, by: rollout, in: state, knowing: try labels())
    }

    func starts(
        of verified: VerifiedRelease,
        by rollout: ReleaseRollout,
        in state: PublishedState,
        knowing labels: PublishedLabels
    ) throws(ServerError) -> [StartedVersion] {
        guard rollout != .none else { return [] }
        let channel = verified.release.header.channel
        // A publish that was interrupted may have written the labels of this very release.
        let known = labels.published(in: state).rows
        let new = NewVersions(verified.list.entries, after: listed(in: channel, state) ?? []) { label in
            known[label]?.channel == channel
        }
        do throws(DialRefusal) {
            return try new.starts(by: rollout.wish, default: rollout.usual, in: channel)
        } catch { throw .dial(error) }
    }

    /// The channel's dial; nil if it has none.
    ///
    /// - Parameter isNeeded: Whether rows are added. A dial that cannot be read otherwise stays as it is.
    func currentDial(
        of channel: ChannelName,
        isNeeded: Bool,
        in state: PublishedState
    ) throws(ServerError) -> Dial? {
        guard state.channels[channel] != nil else { return nil }
        return isNeeded ? try dial(of: channel, in: state) : try? dial(of: channel, in: state)
    }

    /// Refuses a dial that no device would read.
    func checkSize(of dial: Dial) throws(ServerError) {
        let size = dial.json.fileBytes.count
        guard size <= Limits.dial else { throw .dial(.tooLarge(size: size, limit: Limits.dial)) }
    }
}
