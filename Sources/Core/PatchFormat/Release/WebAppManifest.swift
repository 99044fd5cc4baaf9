/// How a file of a bundle is recognised as a web app manifest, which browsers request without cookies.
package enum WebAppManifest {
    package static let contentType = "application/manifest+json"

    /// - Parameter path: of the file, decoded.
    package static func isNamed(_ path: String) -> Bool {
        let path = path.lowercased()
        return path.hasSuffix(".webmanifest") || path.hasSuffix("manifest.json")
    }
}
