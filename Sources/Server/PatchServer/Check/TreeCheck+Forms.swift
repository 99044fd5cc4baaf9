import PatchCompression
import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

/// Compressed forms: what comes out of one is the file that its name says.
extension TreeCheck {
    /// Devices go back to the plain file where a form is wrong, so it costs bytes and breaks no update.
    mutating func checkForm(_ form: TreePath.File, of plain: TreePath.File, _ format: CompressionFormat) {
        do throws(ServerError) {
            guard let wanted = try content(of: plain) else {
                report.counts.unreferenced += 1
                return
            }
            report.counts.forms += 1
            guard try decompressed(form, format) == wanted else {
                add(form, .form, "what comes out of it is not the file that it is a form of")
                return
            }
        } catch { add(form, .form, "\(error)") }
    }

    /// Nil where it does not decode.
    private mutating func decompressed(
        _ form: TreePath.File,
        _ format: CompressionFormat
    ) throws(ServerError) -> SHA256Digest? {
        guard let reader = try repository.storage.open(form, limit: Limits.object) else { return nil }
        var digester = Digester()
        do throws(CompressionError) {
            var decompressor = try Decompressor(format, limit: Limits.object)
            while let bytes = chunk(of: reader) {
                report.counts.bytes += bytes.count
                decompressor.feed(bytes)
                while let piece = try decompressor.next() { digester.update(piece) }
            }
            try decompressor.finish()
        } catch { return nil }
        return digester.finish().sha256
    }

    /// Nil at the end, and where it cannot be read: then it does not decode.
    func chunk(of reader: any FileReader) -> [UInt8]? { (try? reader.next()) ?? nil }

    /// Nil for what is not there, or is not named by its content.
    private func content(of plain: TreePath.File) throws(ServerError) -> SHA256Digest? {
        guard case .pack(let manifest) = plain else { return listing.files[plain] == nil ? nil : plain.digest }
        let isIt = { (file: TreePath.File) in
            if case .target(let path, manifest) = file { path.isManifest } else { false }
        }
        guard let file = listing.files.keys.first(where: isIt) else { return nil }
        guard let reader = try repository.storage.open(file, limit: Limits.manifest),
            let contents = try? FullPackContents(ofManifest: FileBytes(reader), named: manifest.hex)
        else { return nil }
        var digester = Digester()
        for object in contents.objects {
            guard let reader = try repository.storage.open(.object(object), limit: Limits.object) else { return nil }
            var own = Digester()
            while let bytes = chunk(of: reader) {
                digester.update(bytes)
                own.update(bytes)
            }
            // A damaged object says nothing of the pack's forms.
            guard own.finish().sha256 == object else { return nil }
        }
        return digester.finish().sha256
    }
}
