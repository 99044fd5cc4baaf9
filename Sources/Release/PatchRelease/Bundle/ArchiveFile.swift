import PatchFormat

/// A kind of file that contains other files, detected by its first bytes.
enum ArchiveFormat: Sendable {
    case zip, tar
    /// A single compressed stream: a tar archive or one file.
    case gzip, zstandard

    /// Returns nil for any other kind of file.
    static func of(_ head: [UInt8], named path: AssetPath) -> ArchiveFormat? {
        if head.starts(with: [0x50, 0x4B, 3, 4]) || head.starts(with: [0x50, 0x4B, 5, 6]) { return .zip }
        if head.starts(with: [0x1F, 0x8B, 8]) { return .gzip }
        if head.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) { return .zstandard }
        if TarBlock(head.prefix(TarBlock.size))?.isUSTAR == true { return .tar }
        // A self-extracting archive begins with a program.
        return [".zip", ".jar"].contains { path.text.lowercased().hasSuffix($0) } ? .zip : nil
    }
}

/// A secret in an archive.
package struct ArchivedSecret: Equatable, Sendable {
    /// The path in the archive, as one line of text.
    package let entry: String
    package let kind: SecretKind

    package init(_ path: [UInt8], _ kind: SecretKind) {
        let text = String(decoding: path.prefix(4_096), as: UTF8.self)
        entry = ShellWord.shortened(text.holdsControlCharacters ? ShellWord.quoted(Array(path.prefix(300))) : text)
        self.kind = kind
    }
}

/// The reason why a part of an archive was not searched.
enum ArchiveGap: String, Sendable, CaseIterable {
    case encrypted
    case damaged
    case otherCompression = "a compression other than deflate"
    case tooLarge = "too large"
}

/// Names of settings files that usually contain passwords or keys.
enum SettingsFileName {
    private static let names: Set<String> = [
        ".env", ".git-credentials", ".htpasswd", ".my.cnf", ".netrc", ".npmrc", ".pgpass", ".pypirc", "_netrc",
        "id_dsa",
        "id_ecdsa", "id_ed25519", "id_rsa",
    ]
    private static let paths = [".aws/credentials", ".docker/config.json", ".kube/config"]
    /// Suffixes of `.env.` files that are templates.
    private static let templates: Set<String> = ["defaults", "dist", "example", "sample", "template"]

    static func isSecret(_ path: String) -> Bool {
        let path = path.lowercased()
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        if names.contains(name) || paths.contains(where: { path == $0 || path.hasSuffix("/\($0)") }) { return true }
        return name.hasPrefix(".env.") && !templates.contains(String(name.dropFirst(5)))
    }
}
