import Linux
import PatchFormat
import PatchServer
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// The folder of one upload: the release's documents and its parts.
struct UploadFolder: Sendable {
    let path: FilePath
    let files: any FileOperations

    /// The stored documents; nil if no upload has begun.
    func documents() throws(UploadError) -> (header: ReleaseHeader, role: Envelope)? {
        let (release, role): ([UInt8], [UInt8])
        do throws(FileError) {
            guard try files.status(of: path.at("release.json")) != nil else { return nil }
            release = try files.read(path.at("release.json"), limit: Limits.releaseHeader)
            role = try files.read(path.at("role.json"), limit: Limits.targetsRole)
        } catch { throw .file(error) }
        do throws(FormatError) {
            let header = try ReleaseHeader(release)
            return (header, try Envelope(role, role: header.channel.text, limit: Limits.targetsRole))
        } catch { throw .malformed(error) }
    }

    /// Writes an offer's documents, and keeps signatures that other senders uploaded.
    ///
    /// - Returns: the offer with all valid signatures.
    func begin(_ offer: ReleaseOffer, by sender: String) throws(UploadError) -> ReleaseOffer {
        var offer = offer
        if let before = try? documents() { offer.merge(before.role) }
        do throws(FileError) {
            try files.makeDirectory(path.at("blobs"))
            try files.replace("role.json", in: path, with: offer.role.fileBytes)
            // The first sender keeps the upload, even if others add signatures.
            if try files.status(of: path.at(Self.senderFile)) == nil {
                try files.replace(Self.senderFile, in: path, with: Array(sender.utf8))
            }
            try files.replace("release.json", in: path, with: offer.header.json.fileBytes)
        } catch { throw .file(error) }
        return offer
    }

    private static let senderFile = "sender"

    /// The sender; empty if unknown.
    func sender() -> String {
        (try? files.read(path.at(Self.senderFile), limit: 4_096)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// When a file of the upload was last written, in nanoseconds; `Int64.max` if it is being removed or is not a folder.
    func touched() throws(FileError) -> Int64 {
        guard try files.status(of: path)?.kind == .directory else { return .max }
        let blobs = path.at("blobs")
        var paths = [path, blobs]
        if try files.status(of: blobs) != nil { paths += try files.list(blobs).map { blobs.at($0) } }
        var newest: Int64 = 0
        for path in paths { newest = max(newest, try files.status(of: path)?.identity.modified ?? 0) }
        return newest
    }

    /// Uploads below `root`, each with the time of its last received byte.
    @concurrent
    static func all(
        below root: FilePath,
        files: any FileOperations
    ) async throws(FileError) -> [(id: String, folder: UploadFolder, touched: UTCTime)] {
        guard try files.status(of: root) != nil else { return [] }
        var found: [(String, UploadFolder, UTCTime)] = []
        for app in try files.list(root) {
            for id in try files.status(of: root.at(app))?.kind == .directory
                ? files.list(root.at(app)) : []
            {
                let folder = UploadFolder(path: root.at(app).at(id), files: files)
                found.append((id, folder, UTCTime(seconds: Int(try folder.touched() / 1_000_000_000))))
            }
        }
        return found
    }

    @concurrent
    func remove() async throws(FileError) {
        try files.removeTree(path)
    }
}
