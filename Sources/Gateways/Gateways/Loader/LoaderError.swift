package import PatchFormat
package import PatchCrypto

/// Why a package of JSPatch's loader is not made or not taken: each case is one broken rule.
package enum LoaderError: Error, Equatable, Sendable {
    /// The package itself, or by its name the archive in it.
    case archive(String?, ZipError)
    /// One of its two files.
    case missing(String)
    /// A third file.
    case unknown(String)
    case tooMany(Int, limit: Int)
    /// Two scripts of one name.
    case twice(String)
    /// No `main.js`.
    case noMain
    case notUTF8(String)
    /// What it says of itself.
    case record(FormatError)
    case signature(JSPatchError)
    /// It is another's: signed for one place, found at another.
    case moved(LoaderPlace, from: LoaderPlace)
    /// It does not say what it is for, and nobody allowed that.
    case unnamed(LoaderPlace)
    /// As new or newer is installed.
    case notNewer(LoaderVersion, installed: LoaderVersion)

    /// The domain of its codes, as JSPatch's loader has it.
    package static let domain = "org.jspatch"

    /// In that domain: the loader's two, and one of ours.
    package enum Code: Int, Sendable {
        /// JPUpdateErrorUnzipFailed: no archive, or one that lacks something.
        case unzipFailed = -1001
        /// JPUpdateErrorVerifyFailed: not signed, or signed for another place.
        case verifyFailed = -1002
        /// JSPatch's own installs it.
        case notNewer = -1003
    }

    package var code: Code {
        switch self {
        case .archive, .missing, .unknown, .tooMany, .twice, .noMain, .notUTF8, .record: .unzipFailed
        case .signature, .moved, .unnamed: .verifyFailed
        case .notNewer: .notNewer
        }
    }
}

extension LoaderError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .archive(nil, let error): "the package \(error)"
        case .archive(let name?, let error): "the package's \(name) \(error)"
        case .missing(let name): "the package has no \(name)"
        case .unknown(let name): "the package has a file \(name) beside script.zip and key"
        case .tooMany(let count, let limit): "\(count) scripts are too many for one package; \(limit) are the most"
        case .twice(let name): "two scripts are called \(name)"
        case .noMain: "none of the scripts is called main.js, which is the one that is run"
        case .notUTF8(let name): "the script \(name) is not UTF-8"
        case .record(let error): "what the package says of itself is malformed: \(error)"
        case .signature(let error): "the package's signature does not hold: \(error)"
        case .moved(let place, let from): "the package of \(from) was found in place of \(place)"
        case .unnamed(let place):
            "the package does not say that it is \(place), so it may be an older one, or another app version's"
        case .notNewer(let version, let installed):
            "version \(version) is not newer than \(installed), which is installed"
        }
    }
}
