import PatchChoice
import PatchFormat
import ReleaseFolder

/// The change between the app's build when it opens a store and the build that the store was last settled for (M16).
///
/// A pure value. A changed `embedded.json` counts as another build, regardless of its name.
enum AppBuildChange: Equatable {
    case none
    /// The app names its build for the first time.
    case named(AppBuild)
    /// Another build with embedded versions, which replace the installed ones.
    case embedded(appBuild: AppBuild?)
    /// Another build without embedded versions: the running ones stay.
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
    /// Checks that the build named by the app agrees with its embedded versions.
    func check(_ given: AppBuild?) throws(SyncError) {
        if let given, let appBuild, given != appBuild { throw .otherAppBuild(given: given, embedded: appBuild) }
    }
}

extension DeviceState {
    /// The state for another build of an app without embedded versions.
    ///
    /// The confirmed selection stays, because without it no version could run. A pending selection or a trial was chosen for
    /// the old build and is dropped, unless no selection was confirmed yet. Blocks are dropped, because those versions may work
    /// in this build.
    func forAnotherBuild() -> DeviceState {
        var state = self
        state.machine.clearBlocks()
        state.machine.settleOnGood()
        return state
    }
}
