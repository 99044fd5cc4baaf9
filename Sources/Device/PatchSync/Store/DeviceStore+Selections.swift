import PatchChoice
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import SystemPackage

/// `channels/CHANNEL/selections/<sha256>.json`: the content of each selection, named by the digest of its bytes.
///
/// The file is written before the state that refers to it, and removed by the first change that leaves no reference to it.
extension DeviceStore {
    func selections(of channel: ChannelName) -> FilePath { directory(of: channel).at("selections") }

    private func file(_ digest: SHA256Digest, in folder: FilePath) -> FilePath { folder.at("\(digest.hex).json") }

    /// The content of a selection that a state refers to.
    ///
    /// - Throws: `format` if the file is missing, or if its digest differs from its name.
    func selection(_ digest: SHA256Digest, of channel: ChannelName) throws(SyncError) -> SelectionContent {
        let path = file(digest, in: selections(of: channel))
        guard let identity = try wrapped({ () throws(FileError) in try files.identity(of: path) }) else {
            throw .format(FormatError(path.string, rule: "is missing"))
        }
        if let known = cache.content(of: path, identity), !known.isLost { return known }
        let content = SelectionContent(try Self.rows(digest, at: path, files), digest: digest)
        cache.keep(content, of: path, identity)
        return content
    }

    /// The content of a selection kept for a rollback, read only when it is used, or nil if the file does not exist.
    func earlierSelection(_ digest: SHA256Digest, of channel: ChannelName) -> SelectionContent? {
        let path = file(digest, in: selections(of: channel))
        guard let identity = try? files.identity(of: path) else { return nil }
        if let known = cache.content(of: path, identity) { return known }
        let content = SelectionContent(unread: digest) { [files] in try? Self.rows(digest, at: path, files) }
        cache.keep(content, of: path, identity)
        return content
    }

    private static func rows(
        _ digest: SHA256Digest,
        at path: FilePath,
        _ files: any FileOperations
    ) throws(SyncError) -> SelectionContent.Rows {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try files.read(path, limit: Limits.selection) } catch { throw .file(error) }
        guard SHA256Digest(of: bytes) == digest else {
            throw .format(FormatError(path.string, rule: StoreRule.name))
        }
        do throws(FormatError) { return try SelectionContent.Rows(bytes, named: path.string) } catch {
            throw .format(error)
        }
    }

    /// Stores a selection durably under the digest of its bytes.
    ///
    /// - Throws: `unreadable`, with no file written, if the selection could not be read again.
    func write(_ selection: Selection, of channel: ChannelName) throws(SyncError) {
        let (content, folder) = (selection.content, selections(of: channel))
        let path = file(content.digest, in: folder)
        let identity = try wrapped { () throws(FileError) in try files.identity(of: path) }
        if let identity {
            if cache.content(of: path, identity) != nil { return }
            if (try? Self.rows(content.digest, at: path, files)) != nil { return }
        }
        // A selection for rollback whose file is already lost: there is nothing to write.
        guard !content.isLost else { return }
        let bytes = content.rows.bytes
        do throws(FormatError) {
            guard try SelectionContent.Rows(bytes, named: path.string, limit: selectionLimit) == content.rows else {
                throw FormatError(path.string, rule: StoreRule.readBack)
            }
        } catch { throw .unreadable(error) }
        try wrapped { () throws(FileError) in
            try files.makeDirectory(folder)
            try files.replace("\(content.digest.hex).json", in: folder, with: bytes)
            if let identity = try files.identity(of: path) { cache.keep(content, of: path, identity) }
        }
    }

    /// Removes all other selections.
    ///
    /// Files that cannot be removed now are removed with a later change.
    func removeSelections(of channel: ChannelName, but kept: Set<SHA256Digest>) {
        let folder = selections(of: channel)
        let names = Set(kept.map { "\($0.hex).json" })
        for name in (try? files.list(folder)) ?? [] where !names.contains(name) {
            try? files.removeTree(folder.at(name))
        }
        cache.forget(in: folder, but: Set(names.map(folder.at)))
    }
}
