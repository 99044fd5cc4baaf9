import ArgumentParser
import PatchRelease

/// Whether a change of the published list may omit a package that JSPatch's clients need.
struct PackageOptions: ParsableArguments {
    static let flag = "--without-packages"

    @Flag(
        help: """
            Continue without a key if JSPatch's clients need a new package. They keep their old package or delete it.
            """
    )
    var withoutPackages = false

    var need: PackageDraft.Need { withoutPackages ? .ifPossible : .carried }
}
