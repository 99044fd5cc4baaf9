package import PatchFormat

/// A package that may be installed and run: verified, opened, and made for this place.
///
/// Whether it is wanted, and not lower, is a ``PlatformDecision``'s.
package struct PlatformUpdate: Equatable, Sendable {
    package let place: LoaderPlace
    /// As it is kept.
    package let package: PlatformPackage
    package let scripts: [ScriptName: [UInt8]]

    package init(
        _ opened: OpenedPlatformPackage,
        asked place: LoaderPlace,
        unnamed: LoaderUpdate.Unnamed
    ) throws(PlatformError) {
        do throws(LoaderError) { try unnamed.check(opened.scripts.place, asked: place) } catch { throw .scripts(error) }
        self.place = place
        (package, scripts) = (opened.package, opened.scripts.scripts)
    }
}
