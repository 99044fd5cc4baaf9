import PatchFormat
import PatchCrypto
import PatchTrust

extension MetadataRefresh {
    /// The dial's document; nil without one that is valid now.
    func dial(app: AppID, in device: DeviceStore, of channel: ChannelName, _ repository: inout TrustedRepository) async
        -> Dial?
    {
        let path = TargetPath.dial(channel)
        do throws(SyncError) {
            try await targets("dial", by: "targets", &repository)
            let file = try judged { [repository] () throws(TrustError) in try repository.target(path, of: "dial") }
            let stored = try device.dial(of: channel)
            let bytes = try await document(file, path, stored: stored)
            let dial: Dial
            do throws(FormatError) { dial = try Dial(bytes) } catch { throw .format(error) }
            // Only saves the next sync a request: a dial that cannot be stored still holds.
            if bytes != stored { try? device.saveDial(bytes, of: channel) }
            return dial.app == app && dial.channel == channel ? dial : nil
        } catch {
            return nil
        }
    }

    /// The bytes as stored while they are the ones that the role names, else from the server.
    private func document(
        _ file: TargetFile,
        _ path: TargetPath,
        stored: [UInt8]?
    ) async throws(SyncError) -> [UInt8] {
        if let stored, file.matches(stored) { return stored }
        let sha256 = try judged { () throws(TrustError) in try file.requiredSHA256(of: path.text) }
        return try await fetch(URLLayout.target(path, sha256: sha256), limit: min(file.length, Limits.dial)) {
            bytes throws(SyncError) in
            try judged { () throws(TrustError) in try file.check(bytes, name: path.text) }
            return bytes
        }
    }
}
