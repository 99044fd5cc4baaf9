package import PatchFormat
import PatchCrypto
import PatchTrust

extension AppRepository {
    /// Another one after each publication, so that what was read of the tree need not be read again before.
    package func revision() throws(ServerError) -> StoredFile? { try storage.status(of: .timestamp) }

    /// What JSPatch's clients get of each channel, verified.
    package func gatewayPackages() throws(ServerError) -> [ChannelName: [GatewayPackages]] {
        let state = try PublishedState(of: self)
        var rows: [ChannelName: [GatewayPackages]] = [:]
        for (channel, published) in state.channels {
            rows[channel] = try list(of: channel, published.role).list.gateways
        }
        return rows
    }

    /// What each channel lists, verified.
    package func listedContents() throws(ServerError) -> [ChannelName: [PatchEntry]] {
        let state = try PublishedState(of: self)
        var listed: [ChannelName: [PatchEntry]] = [:]
        for (channel, published) in state.channels { listed[channel] = try list(of: channel, published.role).entries }
        return listed
    }
}
