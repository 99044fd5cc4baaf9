import PatchChoice
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// The outcome of creating a store.
package enum Creation: Equatable, Sendable {
    case made
    /// The store existed with the same settings.
    case unchanged
    /// The store existed with these differences, in words. It was not changed.
    case differs([String])
}

/// A store is created once, but `createOnce` is called at each start.
extension Device {
    /// Creates a store, or reports how the existing one differs.
    ///
    /// Omitted settings do not count as differences. Neither do facts that changed since: a rotated root, another build of the app.
    ///
    /// - Parameters:
    ///   - channel: Nil for the channel of `embedded`, else `production`. An existing store may then follow any channel.
    ///   - access: Nil for the defaults in a new store. An existing store may then have any access.
    package static func createOnce(
        _ store: DeviceStore,
        server: ServerURL,
        channel: ChannelName?,
        facts: FactChanges,
        root: [UInt8],
        access: ServerAccess?,
        machine: MachineIdentity?,
        embedded: EmbeddedFolder?,
        appBuild: AppBuild?
    ) throws(SyncError) -> Creation {
        guard let production = ChannelName("production") else { preconditionFailure("it is in the grammar") }
        let present: DeviceConfiguration
        // Read before the embedded files are hashed, so that a start of an existing store need not wait for that.
        do throws(SyncError) { present = try store.configuration() } catch .noStore {
            try create(
                store,
                server: server,
                channel: channel ?? embedded?.document.channel ?? production,
                facts: facts,
                root: root,
                access: access ?? ServerAccess(),
                machine: machine,
                embedded: embedded,
                appBuild: appBuild
            )
            return .made
        }
        var wanted = present
        wanted.server = server
        if let channel { wanted.channel = channel }
        if let access { wanted.access = access }
        if let embedded { wanted.embedded = embedded.named }
        facts.apply(to: &wanted)
        let differences = try store.differences(of: root, app: present.app) + present.differences(to: wanted)
        return differences.isEmpty ? .unchanged : .differs(differences)
    }
}

extension DeviceStore {
    /// The differences that exclude this root: it is of another app, or another root of the same version.
    package func differences(of root: [UInt8], app: AppID) throws(SyncError) -> [String] {
        let given: TrustedRoot
        do throws(TrustError) {
            given = try TrustedRoot(anchor: root, admitting: admission)
        } catch { throw .trust(error) }
        guard let named = given.app, named == app else {
            return ["app (\(app), not \(given.app?.text ?? "none"))"]
        }
        guard let present = try trust.metadata("root"), present != root,
            let trusted = try? TrustedRoot(anchor: present, admitting: admission)
        else { return [] }
        let isOther = trusted.version == given.version
        return isOther ? ["root of trust (another one of version \(given.version))"] : []
    }
}

extension DeviceConfiguration {
    /// The settings that differ in `wanted`, each with both values.
    func differences(to wanted: DeviceConfiguration) -> [String] {
        var differences: [String] = []
        func compare(_ name: String, _ here: String?, _ there: String?) {
            guard here != there else { return }
            differences.append("\(name) (\(here ?? "not set"), not \(there ?? "unset"))")
        }
        compare("server", server.text, wanted.server.text)
        compare("channel", channel.text, wanted.channel.text)
        compare("app version", appVersion?.text, wanted.appVersion?.text)
        // The values are left out, because logs must not name the user.
        if user != wanted.user { differences.append("user") }
        for key in Set(data.keys).union(wanted.data.keys).sorted() where data[key] != wanted.data[key] {
            differences.append("data \(key)")
        }
        compare("native part", platform?.words, wanted.platform?.words)
        compare("keep", "\(keep)", "\(wanted.keep)")
        compare("answers", "\(answers)", "\(wanted.answers)")
        compare("express", "\(express)", "\(wanted.express)")
        compare("debug", "\(debug)", "\(wanted.debug)")
        compare("entry signatures", entrySignatures.rawValue, wanted.entrySignatures.rawValue)
        compare("reserve", reserve.map { "\($0)" }, wanted.reserve.map { "\($0)" })
        compare("metered", "\(network.isMetered)", "\(wanted.network.isMetered)")
        compare("allowance", "\(network.allowance)", "\(wanted.network.allowance)")
        compare("limit rate", network.rate.map { "\($0)" }, wanted.network.rate.map { "\($0)" })
        compare("host", pages.host.rawValue, wanted.pages.host.rawValue)
        compare("embedded", embedded?.string, wanted.embedded?.string)
        compare("mirrors", access.mirrors.words, wanted.access.mirrors.words)
        compare("pins", access.pins.words, wanted.access.pins.words)
        if access.authorities != wanted.access.authorities { differences.append("authorities") }
        return differences
    }
}

extension Platform {
    fileprivate var words: String { "\(name) \(compatibility)" }
}

extension Array where Element: CustomStringConvertible {
    fileprivate var words: String? { isEmpty ? nil : map(\.description).joined(separator: ", ") }
}
