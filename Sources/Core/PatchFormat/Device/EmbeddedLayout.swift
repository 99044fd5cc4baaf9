/// The layout of the folder that ships inside an app.
///
/// A web view can load a bundle directly from it.
///
/// ```
/// embedded.json                    the versions in this folder
/// root.json                        the app's root of trust
/// bundles/PATCHID/<asset path>
/// manifests/PATCHID.json  manifests/PATCHID.sigs
/// scripts/PATCHID.js
/// ```
package enum EmbeddedLayout {
    package static let document = "embedded.json"
    package static let root = "root.json"

    package static func asset(_ path: AssetPath, of patchID: PatchID) -> String {
        "bundles/\(patchID)/\(path)"
    }

    package static func manifest(_ patchID: PatchID) -> String {
        "manifests/\(patchID).json"
    }

    package static func signatureColumn(_ patchID: PatchID) -> String {
        "manifests/\(patchID).sigs"
    }

    package static func script(_ patchID: PatchID) -> String {
        "scripts/\(patchID).js"
    }
}
