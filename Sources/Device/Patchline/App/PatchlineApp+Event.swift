import AssetServer
import Logging
import PatchChoice
import PatchFormat
import PatchSync

extension PatchlineApp {
    /// An event of the app, for logs and support.
    public enum Event: Equatable, Sendable {
        case nothingInstalled
        /// This version is served. It is on trial until it is confirmed.
        case serving(String, onTrial: Bool)
        case confirmed(String)
        /// The version on trial failed, or was rolled back by hand.
        ///
        /// - Parameters:
        ///   - to: The version that runs now, or nil if there is none.
        ///   - because: The reason in words. Contains the page's own error, if it reported one.
        case rolledBack(to: String?, from: String, because: String?)
        /// The first version was not confirmed in time. It stays, because there is no other version. It can still be confirmed, and
        /// a newer version replaces it.
        case unproven(String)
        /// A sync chose another version before this one was confirmed. It has not failed, and may be listed again.
        ///
        /// - Parameter by: The new version, or nil if the old one was removed without a replacement.
        case superseded(String, by: String?)
        /// This launch removed these versions, because they were withdrawn.
        case withdrawn([String])
        /// The device follows another channel from now on.
        case following(channel: String)
        /// Files that are missing or altered. They are not served until a sync heals them.
        case damaged([String])
        /// The received part of a sync's files. Reported at each new percent.
        case syncing(percent: Int)
        /// A sync succeeded. `isNew` is true if a new selection is pending.
        case synced(isNew: Bool)
        /// These versions wait for an unmetered network. Reported when the list changes.
        case putOff([PatchlineStore.PutOff])
        case syncFailed(String)
        /// The operator changed the online parameters. Read them with ``PatchlineApp/parameters``.
        case parametersChanged(Parameters)
        /// An error, in words. The served version stays.
        case trouble(String)
    }
}

extension PatchlineApp.Event: CustomStringConvertible {
    /// The event as a sentence for a log.
    public var description: String {
        switch self {
        case .nothingInstalled: "nothing is installed yet"
        case .serving(let version, let onTrial): "serving \(version)\(onTrial ? ", on trial" : "")"
        case .confirmed(let version): "confirmed: \(version)"
        case .rolledBack(let good, let bad, let why):
            "\(bad) was rolled back\(why.map { ": \($0)" } ?? ""); \(good.map { "back to \($0)" } ?? "nothing runs")"
        case .unproven(let version): "\(version) was not confirmed in time; it stays, because there is no other version"
        case .superseded(let version, let next): DeviceEvent.words(ofSuperseded: version, by: next)
        case .withdrawn(let ids): "withdrawn: \(ids.joined(separator: ", "))"
        case .following(let channel): "following channel \(channel)"
        case .damaged(let files): "damaged, and not served until a sync heals it: \(files.joined(separator: ", "))"
        case .syncing(let percent): "a sync has fetched \(percent) %"
        case .synced(let isNew): isNew ? "synced: a new version is pending" : "synced: nothing new"
        case .putOff(let versions):
            "put off while metered: \(versions.map(\.version.description).joined(separator: ", "))"
        case .syncFailed(let why): "the sync failed: \(why)"
        case .parametersChanged: "the online parameters changed"
        case .trouble(let what): what
        }
    }

    /// The event's log level.
    var level: Logger.Level {
        switch self {
        case .syncing: .debug
        case .nothingInstalled, .serving, .confirmed, .superseded, .withdrawn, .following, .synced, .putOff,
            .parametersChanged:
            .info
        case .rolledBack, .unproven, .damaged, .syncFailed, .trouble: .warning
        }
    }
}

extension PatchlineApp.Event {
    /// Creates the app's form of a device event, or nil if apps do not report it.
    init?(_ event: DeviceEvent) {
        func words(_ selection: Selection) -> String {
            selection.patches.map(\.label.description).joined(separator: ", ")
        }
        switch event {
        case .nothingInstalled: self = .nothingInstalled
        case .serving(let selection, let trial): self = .serving(words(selection), onTrial: trial != nil)
        case .confirmed(let selection): self = .confirmed(words(selection))
        case .rolledBack(let good, let bad, let setback):
            self = .rolledBack(to: good.map(words), from: words(bad), because: setback?.description)
        case .damaged(let files): self = .damaged(files)
        case .unproven(let selection): self = .unproven(words(selection))
        case .superseded(let selection, let next):
            self = .superseded(words(selection), by: next.patches.isEmpty ? nil : words(next))
        case .withdrawn(let ids): self = .withdrawn(ids.map(\.text))
        case .following(let channel): self = .following(channel: channel.text)
        case .bundleMissing(let id, let there):
            self = .trouble(
                "the active versions have no bundle \(id); there is \(there.map(\.text).joined(separator: ", "))"
            )
        case .scriptFailed(let failure): self = .trouble(failure.description)
        case .scriptsLeftOut(let page, let reason): self = .trouble(reason.words(page))
        case .stalePage(let version): self = .trouble(DeviceEvent.words(ofStalePage: version))
        case .stateFault(let fault): self = .trouble(fault.description)
        case .trouble(let error), .parametersTrouble(let error): self = .trouble(error.description)
        case .synced(.success(let report)):
            self = report.failures.first.map { .syncFailed($0.error.description) } ?? .synced(isNew: report.isNew)
        case .synced(.failure(let error)): self = .syncFailed(error.description)
        case .parametersChanged(let parameters): self = .parametersChanged(PatchlineApp.Parameters(parameters))
        case .fileTrouble(let line): self = .trouble(line)
        case .syncing, .portTaken, .update, .updateDone, .failed, .noRoom, .script, .asked, .awaiting, .approved,
            .postponed, .postponementEnded, .made, .differs, .follows, .removed, .listening, .proxyLine, .storeFailed:
            return nil
        }
    }
}
