package import PatchFormat
import SystemPackage

extension Device {
    /// The online parameters of the present channel, as last verified; no network.
    package func parameters() throws(SyncError) -> OnlineParameters {
        let (app, channel) = (configuration.app, configuration.channel)
        guard let bytes = try store.parameters(of: channel) else { return OnlineParameters(app: app, channel: channel) }
        do throws(FormatError) {
            return try OnlineParameters(bytes, named: store.parametersFile(channel).string)
        } catch { throw .format(error) }
    }
}
