package import PatchChoice
package import PatchFormat

/// What an app tells a device of itself and of whoever uses it; what is not named stays.
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
    /// How many selections confirmed before the present one stay on disk.
    package var keep = Change<Int>.keep
    /// Whether the server is asked what was chosen for this user.
    package var answers = Change<Bool>.keep
    /// Whether a server is asked for all metadata in one answer first.
    package var express = Change<Bool>.keep
    /// Which signatures stand for a bundle's files.
    package var entrySignatures = Change<EntrySignatures>.keep
    /// Whether whoever works on the app may run scripts of his own.
    package var debug = Change<Bool>.keep
    /// The name under which pages are served; nil keeps it.
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
