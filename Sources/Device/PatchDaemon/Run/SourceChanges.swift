import PatchFormat
import PatchSync

/// The changes for an existing store, because the settings file names another server or channel.
struct SourceChanges: Equatable, Sendable {
    /// The new server, or nil if it does not change.
    let server: ServerURL?
    let channel: ChannelName?
    /// One description for each change.
    let words: [String]

    /// - Parameter origin: The settings. Without a channel, the store's own stays.
    init(from present: DeviceConfiguration, to origin: StoreSettings.Origin) {
        server = origin.server == present.server ? nil : origin.server
        channel = origin.channel.flatMap { $0 == present.channel ? nil : $0 }
        words = [
            server.map { "server \($0), before \(present.server)" },
            channel.map { "channel \($0), before \(present.channel)" },
        ].compactMap(\.self)
    }

    var isEmpty: Bool { words.isEmpty }
}
