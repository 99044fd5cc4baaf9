import ArgumentParser
import PatchRelease

/// Whether a change of the published list may omit a package that JSPatch's clients need.
struct PackageOptions: ParsableArguments {
    static let flag = "--without-packages"

    @Flag(
        help: """
            Go on where JSPatch's clients need a new package and there is no key: they stay behind, or delete what they have.
            """
    )
    var withoutPackages = false

    var need: PackageDraft.Need { withoutPackages ? .ifPossible : .carried }
}
