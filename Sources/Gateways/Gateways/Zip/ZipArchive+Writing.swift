import PatchCompression
import PatchFormat

extension ZipArchive {
    /// The bytes of the archive: files sorted by path and dated 1980, each deflated if that is shorter.
    ///
    /// Equal files give equal bytes with the same zlib.
    package func bytes() throws(ZipError) -> [UInt8] {
        var (archive, list) = (ZipWriter(), ZipWriter())
        for file in files {
            let entry = try PackedEntry(file)
            let offset = archive.bytes.count
            archive.four(ZipRecords.localSignature)
            entry.write(to: &archive)
            archive.raw(entry.name)
            archive.raw(entry.packed)
            list.four(ZipRecords.listSignature)
            list.two(ZipRecords.madeBy)
            entry.write(to: &list)
            // No comment, the first disk, no internal attributes.
            list.two(0, 0, 0)
            list.four(ZipRecords.attributes, offset)
            list.raw(entry.name)
        }
        let start = archive.bytes.count
        archive.raw(list.bytes)
        archive.four(ZipRecords.endSignature)
        archive.two(0, 0, files.count, files.count)
        archive.four(list.bytes.count, start)
        archive.two(0)
        return archive.bytes
    }
}

/// A file as it is stored in an archive.
private struct PackedEntry {
    let name: [UInt8]
    let packed: [UInt8]
    private let method: Int
    private let flags: ZipFlags
    private let checksum: UInt32
    private let size: Int

    init(_ file: ZipArchive.File) throws(ZipError) {
        name = Array(file.path.text.utf8)
        flags = name.allSatisfy { $0 < 0x80 } ? [] : .utf8
        let deflated: [UInt8]
        do throws(CompressionError) { deflated = try BareDeflate.compressed(file.bytes) } catch {
            throw .entry(file.path.text, .compression(error))
        }
        let isShorter = deflated.count < file.bytes.count
        (method, packed) = isShorter ? (ZipRecords.deflated, deflated) : (ZipRecords.stored, file.bytes)
        (checksum, size) = (CRC32.of(file.bytes), file.bytes.count)
    }

    /// Writes the fields that both of its records share: 4.3.7 and 4.3.12 from "version needed to extract" on.
    func write(to record: inout ZipWriter) {
        record.two(method == ZipRecords.deflated ? 20 : 10, flags.rawValue, method, 0, ZipRecords.date)
        record.four(Int(checksum), packed.count, size)
        record.two(name.count, 0)
    }
}
