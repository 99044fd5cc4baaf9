import PatchFormat
import PatchCrypto
import PatchTrust

extension MetadataRefresh {
    /// The dial's document, or nil if no valid one exists.
    func dial(app: AppID, in device: DeviceStore, of channel: ChannelName, _ repository: inout TrustedRepository) async
        -> Dial?
    {
        let path = TargetPath.dial(channel)
        do throws(SyncError) {
            try await targets("dial", by: "targets", &repository)
            let file = try mappingErrors { [repository] () throws(TrustError) in try repository.target(path, of: "dial")
            }
            let stored = try device.dial(of: channel)
            let bytes = try await document(file, path, stored: stored)
            let dial: Dial
            do throws(FormatError) { dial = try Dial(bytes) } catch { throw .format(error) }
            // Errors are ignored: storing the dial only saves the next sync a request, and the dial is valid all the same.
            if bytes != stored { try? device.saveDial(bytes, of: channel) }
            return dial.app == app && dial.channel == channel ? dial : nil
        } catch {
            return nil
        }
    }

    /// The stored bytes if the role lists them, else the bytes from the server.
    private func document(
        _ file: TargetFile,
        _ path: TargetPath,
        stored: [UInt8]?
    ) async throws(SyncError) -> [UInt8] {
        if let stored, file.matches(stored) { return stored }
        let sha256 = try mappingErrors { () throws(TrustError) in try file.requiredSHA256(of: path.text) }
        return try await fetch(URLLayout.target(path, sha256: sha256), limit: min(file.length, Limits.dial)) {
            bytes throws(SyncError) in
            try mappingErrors { () throws(TrustError) in try file.check(bytes, name: path.text) }
            return bytes
        }
    }
}

/// The result of updating a channel's online parameters on this device.
package enum ParametersUpdate: Equatable, Sendable {
    /// They are those that the dial's role lists, or there are none.
    case unchanged
    case changed
    /// The channel no longer has any.
    case removed
    /// The last valid ones stay in use.
    case kept(because: SyncError)
}

extension MetadataRefresh {
    /// Downloads and stores the parameters that the dial's role lists, unless they are already stored.
    ///
    /// The new parameters are stored durably, or the previous ones are unchanged.
    func parameters(
        app: AppID,
        in device: DeviceStore,
        of channel: ChannelName,
        _ repository: inout TrustedRepository
    ) async -> ParametersUpdate {
        do throws(SyncError) {
            let stored = try device.parameters(of: channel)
            do throws(SyncError) { try await targets("dial", by: "targets", &repository) } catch {
                return stored == nil ? .unchanged : .kept(because: error)
            }
            guard let file = try target(of: channel, in: repository) else {
                guard stored != nil else { return .unchanged }
                try device.removeParameters(of: channel)
                return .removed
            }
            if let stored, file.matches(stored) { return .unchanged }
            try device.saveParameters(try await parameters(file, of: channel, app: app), of: channel)
            return .changed
        } catch { return .kept(because: error) }
    }

    /// The row of the parameters in the dial's role, or nil if it lists none.
    private func target(of channel: ChannelName, in repository: TrustedRepository) throws(SyncError) -> TargetFile? {
        do throws(TrustError) {
            return try repository.target(.parameters(channel), of: "dial")
        } catch .noTarget {
            return nil
        } catch { throw .trust(error) }
    }

    /// The document from the server, with the signed digest, for this app and channel.
    private func parameters(
        _ file: TargetFile,
        of channel: ChannelName,
        app: AppID
    ) async throws(SyncError) -> [UInt8] {
        let path = TargetPath.parameters(channel)
        let sha256 = try mappingErrors { () throws(TrustError) in try file.requiredSHA256(of: path.text) }
        return try await fetch(URLLayout.target(path, sha256: sha256), limit: min(file.length, Limits.parameters)) {
            bytes throws(SyncError) in
            try mappingErrors { () throws(TrustError) in
                try file.check(bytes, name: path.text)
                try OnlineParameters(trusting: bytes).check(app: app, channel: channel)
            }
            return bytes
        }
    }
}

extension OnlineParameters {
    fileprivate init(trusting bytes: [UInt8]) throws(TrustError) {
        do throws(FormatError) { try self.init(bytes) } catch { throw .malformed(error) }
    }

    fileprivate func check(app: AppID, channel: ChannelName) throws(TrustError) {
        for (field, found, expected) in [
            ("app", self.app.text, app.text), ("channel", self.channel.text, channel.text),
        ] where found != expected {
            throw .foreign(document: "parameters", field: field, found: found, expected: expected)
        }
    }
}
