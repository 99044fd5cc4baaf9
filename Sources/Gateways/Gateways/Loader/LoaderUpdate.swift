package import PatchFormat

/// A package that may be installed: asked for, verified, newer than what is there, and made for this place.
package struct LoaderUpdate: Equatable, Sendable {
    package let place: LoaderPlace
    package let scripts: [ScriptName: [UInt8]]

    /// What is done with packages that do not say what they are for, as JSPatch's own packer makes them.
    package enum Unnamed: Sendable {
        case refused
        /// Whoever answers in the server's place chooses among all packages ever signed by the key that are new here.
        case taken

        /// - Parameter named: what a package says it is for; nil where it says nothing.
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

    /// Known before anything is fetched.
    package static func check(_ version: LoaderVersion, installed: LoaderVersion?) throws(LoaderError) {
        if let installed, version <= installed { throw .notNewer(version, installed: installed) }
    }
}
