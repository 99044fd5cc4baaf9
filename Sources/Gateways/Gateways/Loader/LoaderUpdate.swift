package import PatchFormat

/// A package that may be installed: requested, verified, newer than the installed version, and made for this place.
package struct LoaderUpdate: Equatable, Sendable {
    package let place: LoaderPlace
    package let scripts: [ScriptName: [UInt8]]

    /// The treatment of packages without a record, as JSPatch's own packer makes them.
    package enum Unnamed: Sendable {
        case refused
        /// Accepts them. An attacker in the server's place can then choose any newer package that the key ever signed.
        case taken

        /// - Parameter named: The place in the package's record, or nil without a record.
        func check(_ named: LoaderPlace?, asked place: LoaderPlace) throws(LoaderError) {
            switch (named, self) {
            case (let named?, _): guard named == place else { throw .moved(place, from: named) }
            case (nil, .refused): throw .unnamed(place)
            case (nil, .taken): break
            }
        }
    }

    package init(
        _ verified: VerifiedScripts,
        asked place: LoaderPlace,
        installed: LoaderVersion?,
        unnamed: Unnamed
    ) throws(LoaderError) {
        try Self.check(place.version, installed: installed)
        try unnamed.check(verified.scripts.place, asked: place)
        self.place = place
        scripts = verified.scripts.scripts
    }

    /// Checks the version before anything is downloaded.
    package static func check(_ version: LoaderVersion, installed: LoaderVersion?) throws(LoaderError) {
        if let installed, version <= installed { throw .notNewer(version, installed: installed) }
    }
}
