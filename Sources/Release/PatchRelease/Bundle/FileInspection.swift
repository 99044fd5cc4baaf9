import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The digests and findings of a bundle's file, from one read.
struct FileInspection: Sendable {
    let fingerprint: Fingerprint
    let findings: ContentSearch.Findings

    /// - Throws: `changed` if another program wrote to the file during the read.
    init(_ file: FilePath, path: AssetPath, of disk: any FileOperations) throws(SigningError) {
        var digester = Digester()
        var search = ContentSearch(Self.interests(in: path))
        var isUnchanged = false
        do throws(FileError) {
            let before = try disk.identity(of: file)
            let reader = try disk.open(file, limit: Limits.object)
            while let piece = try reader.next() {
                digester.update(piece)
                search.take(piece)
            }
            let after = try disk.identity(of: file)
            isUnchanged = before != nil && before == after
        } catch { throw .file(error) }
        guard isUnchanged else { throw .bundle(.changed(file)) }
        fingerprint = digester.finish()
        findings = search.finish()
    }

    private static func interests(in path: AssetPath) -> ContentSearch.Interests {
        let name = path.text.lowercased()
        if [".html", ".htm"].contains(where: name.hasSuffix) { return [.code, .links] }
        if [".js", ".mjs", ".cjs"].contains(where: name.hasSuffix) { return .code }
        return name.hasSuffix(".map") ? .sources : []
    }
}
