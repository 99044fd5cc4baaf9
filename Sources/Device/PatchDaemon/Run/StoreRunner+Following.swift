import DeviceOutput
import PatchFetch
import PatchFormat
import PatchStore
package import PatchSync
import Patchline
import SystemPackage

/// Applying the settings file to a store.
extension StoreRunner {
    /// Acquires the right to serve the store.
    ///
    /// Creates the store, or applies the settings to it.
    ///
    /// - Throws: `lock(.held)` while another process serves it.
    package func prepare() async throws(SyncError) {
        let store = try environment.open(settings.store)
        // The lock was removed with the folder, and no longer excludes other processes.
        if isMade, Self.isRemoved(store) { (isMade, right) = (false, nil) }
        if right == nil { right = try store.servingLock() }
        guard !isMade else { return }
        defer { isMade = settings.origin != nil && !Self.isRemoved(store) }
        do throws(SyncError) { _ = try store.configuration() } catch .noStore {
            guard let origin = settings.origin else { return }
            try make(store, of: origin)
        }
        try await follow()
    }

    /// Applies the settings to the store: server, channel, and its device settings.
    func follow() async throws(SyncError) {
        let store = try environment.open(settings.store)
        // A store of another app must not use the file's settings.
        if let origin = settings.origin, try await !follow(origin, store) { return }
        await set(settings.device, in: store)
    }

    private func make(_ store: DeviceStore, of origin: StoreSettings.Origin) throws(SyncError) {
        let root: [UInt8]
        do throws(FileError) { root = try DiskFiles().read(origin.root, limit: Limits.root) } catch {
            throw .file(error)
        }
        let creation = try Device.createOnce(
            store,
            server: origin.server,
            channel: origin.channel,
            facts: FactChanges(),
            root: root,
            access: nil,
            machine: environment.machine,
            embedded: nil,
            appBuild: nil
        )
        if case .made = creation { emit(.made) }
    }

    /// Applies the file's server and channel to an existing store.
    ///
    /// Its trust does not depend on them.
    ///
    /// Its root stays.
    ///
    /// - Returns: False for a store of another app or root of trust.
    private func follow(_ origin: StoreSettings.Origin, _ store: DeviceStore) async throws(SyncError) -> Bool {
        let present = try store.configuration()
        // An existing store no longer needs the root's file.
        if let root = try? DiskFiles().read(origin.root, limit: Limits.root) {
            let others = try store.differences(of: root, app: present.app)
            guard others.isEmpty else {
                emit(.differs(others))
                return false
            }
        }
        let changes = SourceChanges(from: present, to: origin)
        guard !changes.isEmpty else { return true }
        do throws(SyncError) {
            let device = try Device(store, now: environment.now)
            _ = try await device.following(channel: changes.channel, server: changes.server)
        } catch {
            // The store continues with its present settings.
            emit(.storeFailed(Failure(error)))
            return true
        }
        hasOtherSource = true
        emit(.follows(changes.words))
        return true
    }

    static func isRemoved(_ store: DeviceStore) -> Bool {
        do throws(FileError) { return try store.files.status(of: store.configurationFile) == nil } catch {
            return false
        }
    }

    /// Sets the file's values that differ.
    private func set(_ values: [DeviceSetting: SettingValue], in store: DeviceStore) async {
        guard !values.isEmpty else { return }
        do throws(RunnerFault) {
            let values = try Self.withFiles(values)
            let change: DeviceSettings
            do throws(NamedSettingFault) { change = try DeviceSettings(values) } catch {
                throw .other(error.fault.words(error.setting.name))
            }
            do throws(SyncError) {
                let before = try store.configuration()
                let names = Self.names(of: values, changing: before)
                guard !names.isEmpty else { return }
                try await store.changingConfiguration { configuration throws(SyncError) in
                    try change.apply(to: &configuration)
                }
                emit(.follows(names))
            } catch { throw .device(error) }
        } catch {
            // The store continues with its present settings.
            emit(.storeFailed(Failure(error)))
        }
    }

    /// Returns the names of the settings with a changed value.
    private static func names(
        of values: [DeviceSetting: SettingValue],
        changing before: DeviceConfiguration
    ) -> [String] {
        var names: [String] = []
        for setting in DeviceSetting.allCases where values[setting] != nil {
            // Platform and compatibility are a single value.
            let own = values.filter { $0.key == setting || setting == .platform && $0.key == .compatibility }
            guard let change = try? DeviceSettings(own) else { continue }
            var after = before
            change.applyUnchecked(to: &after)
            if after != before { names.append(setting.name) }
        }
        return names
    }

    private static func withFiles(
        _ values: [DeviceSetting: SettingValue]
    ) throws(RunnerFault) -> [DeviceSetting: SettingValue] {
        var values = values
        for (setting, value) in values where setting.form == .file {
            guard case .text(let path) = value else { continue }
            let bytes: [UInt8]
            do throws(FileError) { bytes = try DiskFiles().read(FilePath(path), limit: Limits.certificates) } catch {
                throw .other("\(setting.name): \(error)")
            }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .other("\(setting.name): \(path) is not UTF-8")
            }
            values[setting] = .text(text)
        }
        return values
    }
}
