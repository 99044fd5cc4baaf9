import PatchChoice
import PatchFormat
import ReleaseFolder

/// What an app says of its build when it opens a store, beside what the store was last settled for (M16).
///
/// Pure. Another `embedded.json` is another build, whatever it is called.
enum AppBuildChange: Equatable {
    case none
    /// The first time that anybody says which build it is.
    case named(AppBuild)
    /// Another build, which ships versions: they win.
    case embedded(appBuild: AppBuild?)
    /// Another build, which ships nothing: what runs has to go on.
    case bare(AppBuild)

    init(_ configuration: DeviceConfiguration, embedded: EmbeddedFolder?, given: AppBuild?) throws(SyncError) {
        try embedded?.document.check(given)
        let build = given ?? embedded?.document.appBuild ?? configuration.appBuild
        if let embedded {
            let isSame = embedded.sha256 == configuration.embeddedDigest && build == configuration.appBuild
            self = isSame ? .none : .embedded(appBuild: build)
        } else if let build, build != configuration.appBuild {
            self = configuration.appBuild == nil ? .named(build) : .bare(build)
        } else {
            self = .none
        }
    }
}

extension EmbeddedDocument {
    /// An app that says which build it is says the same as what it ships.
    func check(_ given: AppBuild?) throws(SyncError) {
        if let given, let appBuild, given != appBuild { throw .otherAppBuild(given: given, embedded: appBuild) }
    }
}

extension DeviceState {
    /// The state for another build of an app that ships nothing: what was confirmed stays, for a wipe would leave nothing
    /// to run; what waits or is on trial was chosen for the old build, and what failed there may work here.
    ///
    /// Where nothing was confirmed yet, what waits or is on trial stays too.
    func forAnotherBuild() -> DeviceState {
        var state = self
        state.machine.clearBlocks()
        state.machine.settleOnGood()
        return state
    }
}
