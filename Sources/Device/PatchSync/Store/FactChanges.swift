package import PatchChoice
package import PatchFormat

/// The changes that an app makes to the settings of its device and user.
///
/// Settings without a change keep their value.
package struct FactChanges: Sendable {
    package enum Change<Value: Sendable>: Sendable {
        case keep
        case forget
        case set(Value)

        func apply(to value: inout Value?) {
            switch self {
            case .keep: break
            case .forget: value = nil
            case .set(let new): value = new
            }
        }
    }

    package var appVersion = Change<AppVersion>.keep
    package var user = Change<UserID>.keep
    package var platform = Change<Platform>.keep
    package var data: [ConditionKey: Change<ConditionValue>] = [:]
    /// The number of previously confirmed selections that stay on disk.
    package var keep = Change<Int>.keep
    /// Whether the server is asked for the user's assignments.
    package var answers = Change<Bool>.keep
    /// Whether the device first requests all metadata in one answer.
    package var express = Change<Bool>.keep
    /// The signatures that a bundle's files need.
    package var entrySignatures = Change<EntrySignatures>.keep
    /// Whether a developer may run their own scripts on this device.
    package var debug = Change<Bool>.keep
    /// The name under which pages are served, or nil to keep it.
    package var host: PagesHost?

    package init() {}

    package func apply(to configuration: inout DeviceConfiguration) {
        appVersion.apply(to: &configuration.appVersion)
        user.apply(to: &configuration.user)
        platform.apply(to: &configuration.platform)
        for (key, change) in data { change.apply(to: &configuration.data[key]) }
        if let host { configuration.pages = configuration.pages.changed(to: host) }
        var kept: Int? = configuration.keep
        keep.apply(to: &kept)
        configuration.keep = kept ?? SelectionMachine.defaultKeep
        var asks: Bool? = configuration.answers
        answers.apply(to: &asks)
        configuration.answers = asks ?? false
        var express: Bool? = configuration.express
        self.express.apply(to: &express)
        configuration.express = express ?? true
        var signatures: EntrySignatures? = configuration.entrySignatures
        entrySignatures.apply(to: &signatures)
        configuration.entrySignatures = signatures ?? .required
        var debugs: Bool? = configuration.debug
        debug.apply(to: &debugs)
        configuration.debug = debugs ?? false
    }
}
