package import PatchChoice
package import PatchDelta
package import PatchFetch
package import PatchFormat
package import PatchStore
package import PatchTrust
package import ReleaseFolder
package import SystemPackage

/// Why an operation of the device failed.
///
/// None of these errors affects running versions.
package enum SyncError: Error, Equatable, Sendable {
    case fetch(FetchError)
    case trust(TrustError)
    case format(FormatError)
    case file(FileError)
    case lock(StoreLockError)
    /// An object's bytes differ from its entry.
    case object(entry: String, field: String)
    /// A pack from a base does not produce the manifest that it is named after.
    case pack(String, PackError)
    /// The folder is not a store.
    case noStore(FilePath)
    /// A required file of the store is missing.
    case storeIncomplete(FilePath)
    case storeExists(FilePath)
    /// Trust on first use is refused. A store is created from a root that is not downloaded.
    case rootNamesNoApp
    /// The error has the same sentence as in Meteor.
    case nothingPending
    case nothingToRollBackTo
    case nothingInstalled
    /// The pending selection must not start inside a running app (J4).
    case waitsForLaunch
    /// The pending selection must not start yet, because of a postponement or a maintenance window.
    case heldBack(ActivationHold)
    /// The version does not fit on the disk.
    case noRoom(Label, SpaceShortage)
    /// The bundle failed its trials on this device.
    case blacklisted(Label, until: UTCTime)
    /// The bundle requires another native part than this device's.
    case incompatible(Label, Platform, needs: String?)
    /// The embedded folder is missing or failed verification.
    case embedded(FilePath, ReleaseError)
    /// The app names another build than its embedded versions do.
    case otherAppBuild(given: AppBuild, embedded: AppBuild)
    /// No version was ever confirmed, and the running selection is on trial, so another channel would begin without a version.
    case trialRunning
    /// The request is delayed until the trial ends: if its answer ended the process, that would count against the trial.
    case waitsForTrial
    /// The daemon does not manage the store at present. The text is the reason, or nil while it starts or stops.
    case notKept(String?)
    /// The document breaks this rule of its reader, so it was not written.
    case unreadable(FormatError)
}

extension SyncError {
    /// Whether the disk was full.
    var isNoSpace: Bool {
        switch self {
        case .file(.noSpace), .lock(.file(.noSpace)): true
        default: false
        }
    }

    /// Whether the disk is readable but not writable.
    var isReadOnlyDisk: Bool {
        switch self {
        case .file(.noSpace), .file(.readOnly), .file(.permission), .lock(.file(.noSpace)), .lock(.file(.readOnly)),
            .lock(.file(.permission)):
            true
        default: false
        }
    }
}

extension SyncError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fetch(let error): error.description
        case .trust(let error): error.description
        case .format(let error): error.description
        case .file(let error): error.description
        case .lock(let error): error.description
        case .object(let entry, let field): "\(entry): the \(field) does not match its entry"
        case .pack(let pack, let error): "\(pack): \(error)"
        case .noStore(let path): "\(path) is not a Patchline store"
        case .storeIncomplete(let path): "\(path) is missing from the store"
        case .storeExists(let path): "\(path) is a store already"
        case .rootNamesNoApp: "the root of trust names no app (x-patchline-app)"
        case .nothingPending: "No pending version to switch to"
        case .nothingToRollBackTo: "there is no earlier confirmed version to roll back to"
        case .nothingInstalled: "nothing is installed yet"
        case .waitsForLaunch: "the pending version starts at the next launch; reload and switch do not activate it"
        case .heldBack(let hold): "the pending version must not start yet: it is \(hold)"
        case .noRoom(let label, let wait): "\(label) \(wait)"
        // Pages made for Meteor recognise these two errors by their first words.
        case .blacklisted(let label, let until):
            "\(label): Skipping downloading blacklisted version: \(NotEligible.blocked(until: until))"
        case .incompatible(let label, let platform, let needs):
            "\(label): Skipping downloading new version because it is made for another native part and potentially "
                + "incompatible; this device is \(platform.name) \(platform.compatibility)"
                + (needs.map { ", it needs \($0)" } ?? "")
        case .embedded(let path, .missing(let name)): "\(path): \(name) is missing from the embedded files"
        case .embedded(let path, let error): "\(path): \(error)"
        case .otherAppBuild(let given, let embedded):
            "this is build \(given), but the embedded files are for build \(embedded)"
        case .unreadable(let error): "it was not written, because it could not be read back: \(error.description)"
        case .waitsForTrial: "a version is on trial; the cost of a sync is known once it is confirmed"
        case .notKept(let why?): "this store is not available now: \(why)"
        case .notKept(nil): "this store is not available now: it is starting or stopping"
        case .trialRunning: "the first version is still on trial; no channel can be changed before it is confirmed"
        }
    }
}
