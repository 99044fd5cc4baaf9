import NIOHTTP1
package import PatchFormat
import PatchCrypto
import PatchTrust

/// The state of one channel, as a server reports it.
///
/// Nothing here is verified. It is only used to explain rejections.
package struct ChannelState: Equatable, Sendable {
    /// A version in a list.
    package struct Version: Equatable, Sendable {
        package let sha256: SHA256Digest
        package let rules: PatchRules

        package init(sha256: SHA256Digest, rules: PatchRules) {
            self.sha256 = sha256
            self.rules = rules
        }

        init(_ entry: PatchEntry) {
            self.init(sha256: entry.fingerprint.sha256, rules: entry.rules)
        }
    }

    /// A release that lacks signatures.
    package struct Draft: Equatable, Sendable {
        package let version: Int
        /// The digest of its role's signed part; nil for a damaged draft.
        package let identity: SHA256Digest?
        package let signatures: Int
        package let threshold: Int

        package init(version: Int, identity: SHA256Digest?, signatures: Int, threshold: Int) {
            self.version = version
            self.identity = identity
            self.signatures = signatures
            self.threshold = threshold
        }
    }

    /// The version of the current release; 0 before the first one.
    package let current: Int
    /// The versions that the current release lists.
    package let listed: [Label: Version]
    /// Versions withdrawn by name.
    package let withdrawn: [Label: SHA256Digest]
    /// The draft that can become the next release.
    package let draft: Draft?

    package init(
        current: Int,
        listed: [Label: Version] = [:],
        withdrawn: [Label: SHA256Digest] = [:],
        draft: Draft? = nil
    ) {
        self.current = current
        self.listed = listed
        self.withdrawn = withdrawn
        self.draft = draft
    }
}

extension ServiceClient {
    private static let rows = 100_000

    /// Returns the state of a channel from the service.
    package func state(of channel: ChannelName, in app: AppID) async throws(ServiceError) -> ChannelState {
        let listing = try await json(.service(.GET, app))
        let current: Int
        let draft: ChannelState.Draft?
        do throws(FormatError) {
            current = try Self.current(channel, in: listing)
            draft = try Self.draft(of: channel, in: listing)
        } catch { throw .malformed(error) }
        guard current > 0 else { return ChannelState(current: 0, draft: draft) }
        let list = try await list(of: channel, version: current, in: app)
        return ChannelState(
            current: current,
            listed: Dictionary(list.entries.map { ($0.label, ChannelState.Version($0)) }) { first, _ in first },
            withdrawn: Dictionary(list.withdrawn.map { ($0.label, $0.sha256) }) { first, _ in first },
            draft: draft
        )
    }

    /// The draft that can become a channel's next release; nil if there is none.
    package func waitingDraft(of channel: ChannelName, in app: AppID) async throws(ServiceError) -> ChannelState.Draft?
    {
        let listing = try await json(.service(.GET, app))
        do throws(FormatError) { return try Self.draft(of: channel, in: listing) } catch { throw .malformed(error) }
    }

    private static func current(_ channel: ChannelName, in listing: Fields) throws(FormatError) -> Int {
        for (index, value) in try listing.array("channels", limit: rows).enumerated() {
            let row = try Fields(value, of: "answer", at: "channels[\(index)]")
            guard try row.string("channel") == channel.text else { continue }
            return try row.integer("roleVersion", in: 0...(1 << 53 - 1))
        }
        return 0
    }

    private static func draft(of channel: ChannelName, in listing: Fields) throws(FormatError) -> ChannelState.Draft? {
        for (index, value) in try listing.array("drafts", limit: rows).enumerated() {
            let row = try Fields(value, of: "answer", at: "drafts[\(index)]")
            guard try row.string("channel") == channel.text, try row.bool("current") else { continue }
            return ChannelState.Draft(
                version: try row.integer("roleVersion", in: 1...(1 << 53 - 1)),
                identity: row.has("identity") ? try row.digest("identity") : nil,
                signatures: try row.integer("signatures", in: 0...Limits.signaturesOnRole),
                threshold: try row.integer("threshold", in: 0...Limits.signaturesOnRole)
            )
        }
        return nil
    }

    private func list(
        of channel: ChannelName,
        version: Int,
        in app: AppID
    ) async throws(ServiceError) -> PatchList {
        let tree = PublishedTree(app: app, client: self)
        let envelope = try await tree.envelope(channel, version: version)
        let role: TargetsRole
        do throws(FormatError) { role = try TargetsRole(envelope, name: channel.text) } catch {
            throw .malformed(error)
        }
        let path = TargetPath.patchList(channel)
        guard let file = role.targets[ExactString(path.text)] else {
            throw .trust(.noTarget(role: channel.text, target: path.text))
        }
        let bytes = try await tree.target(path, file)
        do throws(FormatError) { return try ParsedPatchList(bytes).list } catch { throw .malformed(error) }
    }
}
