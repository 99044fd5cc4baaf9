package import PatchFormat

/// Reasons why a response of a Meteor server is rejected, in the words of Meteor's own client if it has any.
///
/// Source: meteor/cordova-plugin-meteor-webapp, `AssetManifest`, `AssetBundle`, `AssetBundleDownloader` and `WebAppLocalServer`.
package enum MeteorError: Error, Equatable, Sendable {
    // The asset manifest.
    case manifestStatus(Int)
    case manifestSyntax
    case manifestFormat(String)
    case noVersion
    case noCompatibility
    // Entries that Meteor's client accepts although they could leave the version's folder or hide one file behind another.
    case entry(FormatError)
    case path(String, AssetPath.Problem)
    case twice(path: AssetPath)
    case twiceURL(String)
    /// A file has the name of the stored index page or manifest.
    case reserved(AssetPath)
    /// A version exceeds the download limit. The size is nil if this is discovered during the download.
    case tooLarge(Int?, limit: Int)
    // The decision.
    case blacklisted
    case incompatible
    // An asset's response. The URL is the manifest's without its query.
    case assetStatus(Int, url: String)
    case hashMismatch(url: String)
    // The index page.
    case noRuntimeConfig
    case indexVersion(expected: String, actual: String)
    case noRootURL
    case rootURLIsLocalhost
    case noAppID
    case otherApp(rootURL: String)
    // Bundles that cannot be served to Meteor's clients.
    case manifestPlaceTaken
    // Requests of a page.
    case noPendingVersion
}

extension MeteorError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .manifestStatus(let status): "Non-success status code \(status) for asset manifest"
        case .manifestSyntax: "Error parsing asset manifest"
        case .manifestFormat(let format): "The asset manifest format is incompatible: \(format)"
        case .noVersion: "Asset manifest does not have a version"
        case .noCompatibility: "Asset manifest does not have a cordovaCompatibilityVersion"
        case .entry(let error): "\(error)"
        case .path(let path, let problem): "The asset manifest has a path that \(problem.rawValue): \(path)"
        case .twice(let path): "The asset manifest has two entries of one path: \(path)"
        case .twiceURL(let url): "The asset manifest has two entries of one URL: \(url)"
        case .reserved(let path) where path == MeteorAsset.kept:
            "The asset manifest names program.json, the device's own copy of the manifest"
        case .reserved(let path): "The asset manifest names \(path), the page, which must not be listed"
        case .tooLarge(let bytes?, let limit):
            "Skipping downloading new version because its files have \(bytes) bytes; the limit is \(limit)"
        case .tooLarge(nil, let limit):
            "Skipping downloading new version because its files exceed the limit of \(limit) bytes"
        case .blacklisted: "Skipping downloading blacklisted version"
        case .incompatible:
            "Skipping downloading new version because the Cordova platform version or plugin versions have changed "
                + "and are potentially incompatible"
        case .assetStatus(let status, let url): "Non-success status code \(status) for asset: \(url)"
        case .hashMismatch(let url): "Hash mismatch for asset: \(url)"
        case .noRuntimeConfig: "Couldn't load runtime config from index file"
        case .indexVersion(let expected, let actual):
            "Version mismatch for index page, expected: \(expected), actual: \(actual)"
        case .noRootURL: "Could not find ROOT_URL in downloaded asset bundle"
        case .rootURLIsLocalhost:
            "ROOT_URL in downloaded asset bundle would change current ROOT_URL to localhost. "
                + "Make sure ROOT_URL has been configured correctly on the server."
        case .noAppID: "Could not find appId in downloaded asset bundle"
        case .otherApp(let rootURL):
            "appId in downloaded asset bundle does not match current appId. "
                + "Make sure the server at \(rootURL) is serving the right app."
        case .manifestPlaceTaken:
            "The bundle has a file /manifest.json, where Meteor's clients look for their manifest"
        case .noPendingVersion: "No pending version to switch to"
        }
    }
}
