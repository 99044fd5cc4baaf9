/// Recognises the file names of web app manifests, which browsers request without cookies.
package enum WebAppManifest {
    package static let contentType = "application/manifest+json"

    /// - Parameter path: the decoded path of the file.
    package static func isNamed(_ path: String) -> Bool {
        let path = path.lowercased()
        return path.hasSuffix(".webmanifest") || path.hasSuffix("manifest.json")
    }
}
