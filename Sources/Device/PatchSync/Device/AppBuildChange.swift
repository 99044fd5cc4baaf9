import PatchChoice
import PatchFormat
import ReleaseFolder

/// The change between the app's build when it opens a store and the build that the store was last settled for (M16).
///
/// Pure. Another `embedded.json` is another build, whatever it is called.
enum AppBuildChange: Equatable {
    case none
    /// The app names its build for the first time.
    case named(AppBuild)
    /// Another build with embedded versions, which win.
    case embedded(appBuild: AppBuild?)
    /// Another build without embedded versions: running ones go on.
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
    /// Checks that the app's own name of its build agrees with its embedded versions'.
    func check(_ given: AppBuild?) throws(SyncError) {
        if let given, let appBuild, given != appBuild { throw .otherAppBuild(given: given, embedded: appBuild) }
    }
}

extension DeviceState {
    /// The state for another build of an app without embedded versions: the confirmed selection stays, because a wipe
    /// would leave nothing to run; a pending or tried one was chosen for the old build, and versions that failed there
    /// may work here.
    ///
    /// If none was confirmed yet, the pending or tried selection stays too.
    func forAnotherBuild() -> DeviceState {
        var state = self
        state.machine.clearBlocks()
        state.machine.settleOnGood()
        return state
    }
}
