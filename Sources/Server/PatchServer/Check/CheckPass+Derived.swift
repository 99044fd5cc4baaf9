import PatchCompression
import PatchCrypto
import PatchDelta
import PatchFormat
import PatchStore
import PatchTrust

/// Packs from a base: each must produce the version in its name.
extension CheckPass {
    /// Devices update without a faulty pack, so it costs bytes and breaks no update.
    mutating func checkPack(_ file: TreePath.File, _ pack: BasePack, _ part: BasePack.Part) {
        let (base, new) = (documents.manifests(pack.base), documents.manifests(pack.manifest))
        guard !new.isEmpty else {
            report.counts.unreferenced += 1
            return
        }
        guard let bytes = manifest(of: base), let old = try? PackManifest(bytes) else { return }
        report.counts.packs += 1
        do throws(ServerError) {
            let found =
                switch part {
                case .pack: try applied(file, pack, to: old)
                case .signatures: try rebuilt(file, old, base, new)
                case .signed: try joined(file, pack)
                }
            if let found { add(file, .form, found) }
        } catch { add(file, .form, "\(error)") }
    }

    /// The fault of a pack, or nil if it is correct or cannot be judged: a damaged object proves nothing about it.
    private mutating func applied(
        _ file: TreePath.File,
        _ pack: BasePack,
        to base: PackManifest
    ) throws(ServerError) -> String? {
        guard let reader = try repository.storage.open(file, limit: Limits.object) else { return nil }
        var application = PackReader(
            base: base,
            manifest: pack.manifest,
            objects: VersionSources(repository.tree).contents,
            limits: PackReader.Bounds(pack: Limits.object, contents: Self.contentsLimit)
        )
        do throws(PackError) {
            while let bytes = chunk(of: reader) {
                report.counts.bytes += bytes.count
                application.feed(bytes)
                while try application.next() != nil {}
            }
            _ = try application.finish()
            return nil
        } catch {
            if case .object = error { return nil }
            return "it does not make the manifest in its name: \(error)"
        }
    }

    /// The limit on a pack's output and referenced data.
    ///
    /// It is far above a real pack's size, as none of it is kept in memory.
    private static let contentsLimit = 16 * Limits.object

    /// The fault of a signature pack, which builds a column of the new manifest from one of the base's.
    private mutating func rebuilt(
        _ file: TreePath.File,
        _ base: PackManifest,
        _ old: [TreePath.File],
        _ new: [TreePath.File]
    ) throws(ServerError) -> String? {
        guard let bytes = manifest(of: new), let made = try? PackManifest(bytes),
            let signatures = try repository.storage.read(file, limit: Limits.signatureColumn)
        else { return nil }
        report.counts.bytes += signatures.count
        let columns = documents.columns(beside: old)
        let wanted = documents.columns(beside: new).compactMap(\.digest)
        guard !columns.isEmpty, !wanted.isEmpty else { return nil }
        for column in columns {
            guard let bytes = try repository.storage.read(column, limit: Limits.signatureColumn) else { continue }
            // A damaged column proves nothing about the pack's signatures.
            guard SHA256Digest(of: bytes) == column.digest else { return nil }
            for digest in wanted {
                let column = try? PackSignatures.column(
                    from: base,
                    column: bytes,
                    to: made,
                    signatures: signatures,
                    digest: digest
                )
                if column != nil { return nil }
            }
        }
        return "they do not make the signatures of the manifest in their name"
    }

    /// The signatures and the pack, joined, must equal the file that contains both.
    private mutating func joined(_ file: TreePath.File, _ pack: BasePack) throws(ServerError) -> String? {
        let storage = repository.storage
        guard let signatures = try storage.read(.basePack(pack, .signatures), limit: Limits.signatureColumn),
            let parts = try storage.open(.basePack(pack, .pack), limit: Limits.object),
            let whole = try storage.open(file, limit: Limits.object)
        else { return nil }
        var size = 0
        var digests = Digester()
        digests.update(BasePack.front(signatures))
        while let bytes = chunk(of: parts) { digests.update(bytes) }
        var found = Digester()
        while let bytes = chunk(of: whole) {
            found.update(bytes)
            size += bytes.count
        }
        report.counts.bytes += size
        return digests.finish().sha256 == found.finish().sha256
            ? nil : "it differs from the signatures and the pack beside it"
    }

    /// Checks an index of packs: each of its statements must be true.
    ///
    /// A pack that it omits costs a device a request, and is not a fault.
    mutating func checkPackIndex(_ file: TreePath.File, of manifest: SHA256Digest) {
        guard !documents.manifests(manifest).isEmpty else {
            report.counts.unreferenced += 1
            return
        }
        do throws(ServerError) {
            // Read again: a server that optimizes replaces a form first and its index right after.
            for attempt in 1...3 {
                guard let found = try contradiction(in: file, of: manifest) else { return }
                if attempt == 3 { add(file, .form, found) }
            }
        } catch { add(file, .form, "\(error)") }
    }

    /// The contradiction, or nil for an index that is correct or missing.
    private mutating func contradiction(
        in file: TreePath.File,
        of manifest: SHA256Digest
    ) throws(ServerError) -> String? {
        guard let bytes = try repository.storage.read(file, limit: Limits.packIndex) else { return nil }
        report.counts.bytes += bytes.count
        let index: PackIndex
        do throws(FormatError) { index = try PackIndex(bytes, of: manifest, named: "it") } catch { return "\(error)" }
        // Listed after the index is read: packs are written before their index, so the list includes new ones.
        let packs = PackIndexes(try repository.storage.listingOfPacks())
        let whole = index.whole == nil ? nil : try packs.wholeBytes(of: manifest, in: repository.storage)
        return packs.contradiction(to: index, of: manifest, whole: whole)
    }

    /// The bytes of the first undamaged manifest, or nil.
    private func manifest(of files: [TreePath.File]) -> [UInt8]? {
        for file in files {
            guard let bytes = (try? repository.storage.read(file, limit: Limits.manifest)) ?? nil,
                SHA256Digest(of: bytes) == file.digest
            else { continue }
            return bytes
        }
        return nil
    }
}

/// Compressed forms: each must decompress to the file in its name.
extension CheckPass {
    /// Devices fall back to the plain file if a form is wrong, so it costs bytes and breaks no update.
    mutating func checkForm(_ form: TreePath.File, of plain: TreePath.File, _ format: CompressionFormat) {
        do throws(ServerError) {
            guard let wanted = try content(of: plain) else {
                report.counts.unreferenced += 1
                return
            }
            report.counts.forms += 1
            guard try decompressed(form, format) == wanted else {
                add(form, .form, "it does not decompress to its original file")
                return
            }
        } catch { add(form, .form, "\(error)") }
    }

    /// The digest of the decompressed bytes, or nil if the form does not decode.
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

    /// The next bytes, or nil at the end or if the form cannot be read: then it does not decode.
    func chunk(of reader: any FileReader) -> [UInt8]? { (try? reader.next()) ?? nil }

    /// The digest of the plain file's content, or nil if the file does not exist or its digest is unknown.
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
            // A damaged object proves nothing about the pack's forms.
            guard own.finish().sha256 == object else { return nil }
        }
        return digester.finish().sha256
    }
}
