import PatchFormat
import PatchRelease
import PatchStore
import PatchTrust
import SystemPackage

/// The names of the public keys in a folder, by every id that documents know them by.
enum KeyNames {
    /// `production-alice` of `production-alice.pub`; files that are no keys have no part in this.
    static func read(_ folder: FilePath, files: any FileOperations) -> [SHA256Digest: String] {
        var names: [SHA256Digest: String] = [:]
        for file in (try? files.list(folder)) ?? [] where file.hasSuffix(".pub") {
            guard let bytes = try? files.read(folder.appending(file), limit: Limits.keyFile),
                let key = try? PublicKey(pem: String(decoding: bytes, as: UTF8.self))
            else { continue }
            let name = String(file.dropLast(".pub".count))
            names[TUFKey(rsa: key, scheme: .rsaPSS).id] = name
            names[EntryKeys.id(of: key)] = name
        }
        return names
    }
}
