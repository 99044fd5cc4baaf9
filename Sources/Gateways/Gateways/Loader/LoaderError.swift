package import PatchFormat
package import PatchCrypto

/// Reasons why a package of JSPatch's loader cannot be made or is rejected.
///
/// Each case is one broken rule.
package enum LoaderError: Error, Equatable, Sendable {
    /// The package, or the named archive in it, is not a valid zip archive.
    case archive(String?, ZipError)
    /// One of the two required files is missing.
    case missing(String)
    /// The package contains a third file.
    case unknown(String)
    case tooMany(Int, limit: Int)
    /// Two scripts have the same name.
    case twice(String)
    /// There is no `main.js`.
    case noMain
    case notUTF8(String)
    /// The record in the script archive is not valid.
    case record(FormatError)
    case signature(JSPatchError)
    /// The package was signed for another place than the one where it was found.
    case moved(LoaderPlace, from: LoaderPlace)
    /// The package has no record of its place, and unnamed packages are not allowed.
    case unnamed(LoaderPlace)
    /// The same or a newer version is installed.
    case notNewer(LoaderVersion, installed: LoaderVersion)

    /// The error domain that JSPatch's loader uses.
    package static let domain = "org.jspatch"

    /// Error codes in ``domain``: two of JSPatch's loader and one of Patchline.
    package enum Code: Int, Sendable {
        /// JPUpdateErrorUnzipFailed: the archive is not valid or incomplete.
        case unzipFailed = -1001
        /// JPUpdateErrorVerifyFailed: the package is not signed, or signed for another place.
        case verifyFailed = -1002
        /// The version is not newer. JSPatch's own loader installs it anyway.
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
        case .tooMany(let count, let limit): "a package has at most \(limit) scripts, not \(count)"
        case .twice(let name): "two scripts are named \(name)"
        case .noMain: "no script is named main.js, the one that runs"
        case .notUTF8(let name): "the script \(name) is not UTF-8"
        case .record(let error): "the package's description is malformed: \(error)"
        case .signature(let error): "the package's signature is not valid: \(error)"
        case .moved(let place, let from): "the package of \(from) was found in place of \(place)"
        case .unnamed(let place):
            "the package does not state that it is \(place), so it may be older or for another app version"
        case .notNewer(let version, let installed):
            "version \(version) is not newer than \(installed), which is installed"
        }
    }
}
