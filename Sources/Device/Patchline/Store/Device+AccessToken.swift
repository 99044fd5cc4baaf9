import PatchCrypto
import AssetServer
import PatchStore
import PatchSync
import SystemPackage

/// The access token of a store. It is saved in a file that only its owner can read, so that apps and browsers keep access after a
/// restart.
extension Device {
    private static let name = "access-token"
    private static let limit = 64

    /// The file from which the app reads the token.
    var accessTokenFile: FilePath { store.root.at(Self.name) }

    /// Returns the saved token, or nil if the file is missing or invalid.
    func keptAccessToken() -> AccessToken? {
        guard let bytes = try? store.files.read(accessTokenFile, limit: Self.limit) else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return AccessToken(text.hasSuffix("\n") ? String(text.dropLast()) : text)
    }

    /// - Throws: `file` if the token cannot be saved. It is then valid until the process ends.
    func keep(_ token: AccessToken) throws(SyncError) {
        guard keptAccessToken() != token else { return }
        do throws(FileError) {
            try store.files.replace(Self.name, in: store.root, with: Array("\(token.text)\n".utf8))
        } catch { throw .file(error) }
    }
}
