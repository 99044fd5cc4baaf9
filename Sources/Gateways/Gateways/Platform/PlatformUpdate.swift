package import PatchFormat

/// A package that may be installed and run: verified, decrypted, and made for this place.
///
/// ``PlatformDecision`` decides whether it is wanted and not a downgrade.
package struct PlatformUpdate: Equatable, Sendable {
    package let place: LoaderPlace
    /// The package as stored on the device.
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
