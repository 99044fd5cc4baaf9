package import PatchChoice
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder

/// The outcome of opening a store, besides the device.
package struct Opening: Sendable {
    package let device: Device
    /// The embedded selection of another build, which the device runs now.
    package var settled: Selection?
    /// Why the store could not be adapted to this build or machine.
    ///
    /// The next opening tries again.
    package var trouble: SyncError?
}

extension Device {
    /// Opens a store at the start of an app.
    ///
    /// On another machine the device gets a new id. Another build of the app starts over from its embedded versions (M16).
    /// A failure of either does not prevent the device from running its versions, and is part of the result.
    ///
    /// - Parameters:
    ///   - machine: Nil if the machine has no identity.
    ///   - appBuild: The build as named by the app, or nil to use that of its embedded versions.
    /// - Throws: `.otherAppBuild` if the two differ.
    package static func open(
        _ store: DeviceStore,
        now: @escaping @Sendable () -> UTCTime,
        machine: MachineIdentity?,
        appBuild: AppBuild? = nil,
        random: @escaping @Sendable () -> [UInt8] = { SecureRandom.bytes(16) }
    ) async throws(SyncError) -> Opening {
        let device = try Device(store, now: now)
        var opening = Opening(device: device)
        do throws(SyncError) {
            try await device.renewIdentity(on: machine, random: random)
            opening.settled = try await device.settleBuild(appBuild)
            return Opening(device: try device.reopened(), settled: opening.settled)
        } catch .otherAppBuild(let given, let embedded) {
            throw .otherAppBuild(given: given, embedded: embedded)
        } catch {
            opening.trouble = error
            return opening
        }
    }

    private func renewIdentity(on machine: MachineIdentity?, random: () -> [UInt8]) async throws(SyncError) {
        let identity = try store.identity()
        guard identity.on(machine, random: random) != identity else { return }
        try await store.changing { () throws(SyncError) in
            let present = try store.identity()
            try store.save(present.on(machine, random: random))
        }
    }

    /// - Returns: the embedded selection, if it was applied now.
    private func settleBuild(_ given: AppBuild?) async throws(SyncError) -> Selection? {
        let folder = try shippedFolder()
        switch try AppBuildChange(configuration, embedded: folder, given: given) {
        case .none: return nil
        case .named(let build):
            try await store.changingConfiguration { configuration in configuration.appBuild = build }
            return nil
        case .bare(let build):
            try await keepRunning(for: build)
            return nil
        case .embedded(let build):
            guard let folder else { return nil }
            return try await settle(folder, appBuild: build)
        }
    }

    func shippedFolder() throws(SyncError) -> EmbeddedFolder? {
        guard let path = configuration.embedded else { return nil }
        do throws(ReleaseError) {
            return try EmbeddedFolder(path, files: store.files)
        } catch { throw .embedded(path, error) }
    }

    /// Saves the build last, so that an interrupted change is repeated at the next opening.
    private func keepRunning(for build: AppBuild) async throws(SyncError) {
        try await store.changingConfiguration { configuration throws(SyncError) in
            for channel in try store.channels() {
                let state = try store.state(of: channel)
                let next = state.forAnotherBuild()
                if next != state { try store.save(next, of: channel) }
            }
            configuration.appBuild = build
        }
    }

    /// Removes the selections, partial downloads, blocks and retries of all channels, and starts from the embedded versions.
    ///
    /// First the embedded versions are verified. Then they become the selection of the present channel, the rest is removed,
    /// and the build is saved last. After an interruption at any point the device has the old selection or the new one, and the
    /// next opening repeats all of it. Trust, device id and reports stay.
    private func settle(_ folder: EmbeddedFolder, appBuild: AppBuild?) async throws(SyncError) -> Selection? {
        let shipped = try VerifiedEmbedded(folder, for: configuration.app, in: store)
        var settled: Selection?
        try await store.changingConfiguration { configuration throws(SyncError) in
            let channel = configuration.channel
            // An unreadable state need not be kept.
            let last = (try? store.state(of: channel))?.lastSelection ?? 0
            let state = DeviceState(startingFrom: shipped, in: channel, after: last)
            try store.save(shipped: shipped.records)
            store.recordChecked(shipped)
            try store.save(state, of: channel)
            try store.forget(allBut: channel)
            configuration.embeddedDigest = folder.sha256
            configuration.appBuild = appBuild
            settled = state.machine.state.running
        }
        try await reopened().removeUnused()
        return settled
    }
}
