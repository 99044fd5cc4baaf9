package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// Whether devices were ever offered this release: the channel's current one, or one that was superseded or dropped
    /// since.
    ///
    /// A number above those was given to what an interrupted publish left behind.
    package func hasPublished(
        _ identity: SHA256Digest,
        of channel: ChannelName,
        version: Int,
        in state: PublishedState
    ) throws(ServerError) -> Bool {
        let current = state.channels[channel]
        if let current, current.identity == identity { return true }
        let last = current == nil ? try labels().dropped[channel] ?? 0 : state.version(of: channel) - 1
        guard version <= last else { return false }
        let file = TreePath.File.role(channel.text, version: version)
        guard let bytes = try storage.read(file, limit: Limits.targetsRole) else { return false }
        return (try? Envelope(bytes, role: channel.text, limit: Limits.targetsRole))?.identity == identity
    }

    /// What an app is judged by and what its channels publish, for the audit log.
    package func trustSummary() throws(ServerError) -> JSON {
        let state = try PublishedState(of: self)
        let channels = state.channels.sorted { $0.key < $1.key }.map { name, channel in
            JSON.fields([
                ("channel", .text(name.text)), ("roleVersion", .integer(channel.role.header.version)),
                ("identity", .text(channel.identity.hex)),
            ])
        }
        return .fields([
            ("root", .integer(state.root.header.version)), ("targets", .integer(state.targets.header.version)),
            ("targetsSHA256", (state.snapshot.files["targets"]?.sha256?.hex).map { .text($0) }),
            ("channels", .array(channels)),
        ])
    }
}
