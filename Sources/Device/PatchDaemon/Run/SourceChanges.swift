import PatchFormat
import PatchSync

/// The changes that an existing store has to follow because the settings file names another server or channel.
struct SourceChanges: Equatable, Sendable {
    /// Nil if it stays.
    let server: ServerURL?
    let channel: ChannelName?
    /// One for each change.
    let words: [String]

    /// - Parameter origin: a channel that is not set keeps the store's own.
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
