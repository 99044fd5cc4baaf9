import PatchCompression
import PatchFormat

/// One entry of an archive whose two records agree.
///
/// Its content is not read yet.
struct ZipEntry {
    let path: AssetPath
    let isFolder: Bool
    /// The offset of the local record.
    let offset: Int
    /// The range of the packed content.
    let packed: Range<Int>
    /// The size of the unpacked content in bytes.
    let size: Int
    /// The size of its record in the list.
    let listedSize: Int
    private let method: Int
    private let checksum: Int

    /// - Parameters:
    ///   - number: The position in the list, from 1 on.
    ///   - listEnd: The end of the list.
    ///   - end: The end of the entries.
    init(
        _ number: Int,
        listedAt place: Int,
        in bytes: [UInt8],
        until listEnd: Int,
        end: Int
    ) throws(ZipError) {
        guard let listed = ListedRecord(at: place, in: bytes, until: listEnd) else {
            throw .list("is truncated at entry \(number)")
        }
        let (path, isFolder): (AssetPath, Bool)
        do throws(ZipError.EntryRule) { (path, isFolder) = try listed.shared.pathAndKind() } catch {
            throw .entry("\(number)", error)
        }
        do throws(ZipError.EntryRule) {
            try listed.shared.check()
            try Self.checkKind(listed.attributes, isFolder: isFolder)
            guard let local = LocalRecord(at: listed.offset, in: bytes, until: end) else {
                throw .contradicts("place")
            }
            try local.shared.checkExtras()
            if let field = listed.shared.difference(from: local.shared) { throw .contradicts(field) }
            guard local.content + listed.shared.packedSize <= end else { throw .contradicts("size") }
            packed = local.content..<(local.content + listed.shared.packedSize)
        } catch { throw .entry(path.text, error) }
        (self.path, self.isFolder) = (path, isFolder)
        (offset, listedSize) = (listed.offset, listed.size)
        (size, method, checksum) = (listed.shared.size, listed.shared.method, listed.shared.checksum)
        guard !isFolder || size == 0 else { throw .entry(path.text, .folderWithContent) }
    }

    /// Checks the file type in the upper half, which Unix sets and DOS leaves 0.
    private static func checkKind(_ attributes: Int, isFolder: Bool) throws(ZipError.EntryRule) {
        switch attributes >> 16 & 0o170_000 {
        case 0: break
        case 0o100_000 where !isFolder: break
        case 0o040_000 where isFolder: break
        case 0o120_000: throw .symbolicLink
        default: throw .special
        }
    }

    /// Returns the unpacked content.
    func content(in bytes: [UInt8]) throws(ZipError.EntryRule) -> [UInt8] {
        let packed = Array(bytes[self.packed])
        let content: [UInt8]
        if method == ZipRecords.stored {
            content = packed
        } else {
            do throws(CompressionError) {
                content = try BareDeflate.decompressed(packed, limit: size)
            } catch { throw .compression(error) }
        }
        guard content.count == size else { throw .length(content.count, expected: size) }
        guard Int(CRC32.of(content)) == checksum else { throw .checksum }
        return content
    }
}

/// The fields that both records of an entry share, from "version needed to extract" on.
private struct SharedFields {
    let flags: ZipFlags
    let method: Int
    let checksum: Int
    let packedSize: Int
    let size: Int
    let nameSize: Int
    let extraSize: Int
    private(set) var name: ArraySlice<UInt8> = []
    private(set) var extra: ArraySlice<UInt8> = []

    init(_ record: inout ZipReader) {
        _ = record.two()
        flags = ZipFlags(rawValue: record.two())
        method = record.two()
        // Skips the time and date.
        _ = record.four()
        checksum = record.four()
        packedSize = record.four()
        size = record.four()
        nameSize = record.two()
        extraSize = record.two()
    }

    mutating func take(_ bytes: [UInt8], from place: Int) {
        name = bytes[place..<(place + nameSize)]
        extra = bytes[(place + nameSize)..<(place + nameSize + extraSize)]
    }

    func pathAndKind() throws(ZipError.EntryRule) -> (AssetPath, isFolder: Bool) {
        guard let text = String(validating: name, as: UTF8.self),
            flags.contains(.utf8) || name.allSatisfy({ $0 < 0x80 })
        else { throw .nameNotUTF8 }
        let isFolder = text.hasSuffix("/")
        do throws(AssetPath.Problem) {
            return (try AssetPath(isFolder ? String(text.dropLast()) : text), isFolder)
        } catch { throw .name(error) }
    }

    func check() throws(ZipError.EntryRule) {
        if flags.contains(.encrypted) { throw .encrypted }
        if flags.contains(.streamed) { throw .streamed }
        let others = flags.subtracting([.effort, .utf8])
        guard others.isEmpty else { throw .flags(others.rawValue) }
        guard [ZipRecords.stored, ZipRecords.deflated].contains(method) else { throw .method(method) }
        // zip64 writes 0xFFFFFFFF in place of a size, which exceeds every bound. The total is checked once all entries are read.
        guard method == ZipRecords.deflated || packedSize == size else { throw .length(packedSize, expected: size) }
        try checkExtras()
    }

    /// Rejects extra fields that change the sizes (zip64, 0x0001) or the name (Info-ZIP's Unicode path, 0x7075).
    ///
    /// Times and owners are harmless.
    func checkExtras() throws(ZipError.EntryRule) {
        var rest = extra
        while rest.count >= 4 {
            var record = ZipReader(rest)
            let (id, size) = (record.two(), record.two())
            guard id != 0x0001, id != 0x7075 else { throw .extra(id) }
            rest = rest.dropFirst(4 + size)
        }
    }

    /// The first field in which the two records differ, except for extra fields, which may differ.
    func difference(from other: SharedFields) -> String? {
        if name != other.name { return "name" }
        if flags != other.flags { return "flags" }
        if method != other.method { return "method" }
        if checksum != other.checksum { return "checksum" }
        if packedSize != other.packedSize || size != other.size { return "size" }
        return nil
    }
}

/// The record of an entry in the list.
private struct ListedRecord {
    private(set) var shared: SharedFields
    let attributes: Int
    let offset: Int
    /// The size of this record in bytes.
    let size: Int

    init?(at place: Int, in bytes: [UInt8], until end: Int) {
        guard place + ZipRecords.listSize <= end else { return nil }
        var record = ZipReader(bytes[place...])
        guard record.four() == ZipRecords.listSignature else { return nil }
        _ = record.two()
        shared = SharedFields(&record)
        let comment = record.two()
        let disk = record.two()
        _ = record.two()
        attributes = record.four()
        offset = record.four()
        size = ZipRecords.listSize + shared.nameSize + shared.extraSize + comment
        guard disk == 0, place + size <= end else { return nil }
        shared.take(bytes, from: place + ZipRecords.listSize)
    }
}

/// The record of an entry before its content.
private struct LocalRecord {
    private(set) var shared: SharedFields
    /// The offset of the content.
    let content: Int

    init?(at place: Int, in bytes: [UInt8], until end: Int) {
        guard place + ZipRecords.localSize <= end else { return nil }
        var record = ZipReader(bytes[place...])
        guard record.four() == ZipRecords.localSignature else { return nil }
        shared = SharedFields(&record)
        content = place + ZipRecords.localSize + shared.nameSize + shared.extraSize
        guard content <= end else { return nil }
        shared.take(bytes, from: place + ZipRecords.localSize)
    }
}
