import PatchCrypto
import AssetServer
import PatchStore
import PatchSync
import SystemPackage

/// The access token of a store: made once, in a file that its owner alone can read, so that what an app or a browser was
/// given goes on holding after a restart.
extension Device {
    private static let name = "access-token"
    private static let limit = 64

    /// Where the app reads it.
    var accessTokenFile: FilePath { store.root.at(Self.name) }

    /// The token that was kept; nil without one, and for a file with anything else in it.
    func keptAccessToken() -> AccessToken? {
        guard let bytes = try? store.files.read(accessTokenFile, limit: Self.limit) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return AccessToken(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// - Throws: `file` where the disk takes nothing: then the token holds until the process ends.
    func keep(_ token: AccessToken) throws(SyncError) {
        guard keptAccessToken() != token else { return }
        do throws(FileError) {
            try store.files.replace(Self.name, in: store.root, with: Array("\(token.text)\n".utf8))
        } catch { throw .file(error) }
    }
}
