package import PatchFormat

/// A few files in one tar archive without folders, held in memory (POSIX.1-1988, "ustar").
///
/// Equal files give equal bytes. Reading is as strict as for a ``ZipArchive``: folders, links and duplicate names are rejected, and
/// so is every byte that readers could interpret differently.
package struct TarArchive: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        /// A single name without a folder.
        package let name: AssetPath
        package let bytes: [UInt8]

        /// - Throws: If `name` is not exactly one valid name.
        package init(_ name: String, _ bytes: [UInt8]) throws(TarError) {
            let path: AssetPath
            do throws(AssetPath.Problem) { path = try AssetPath(name) } catch { throw .entry(name, .name(error)) }
            guard path.segments.count == 1 else { throw .entry(name, .nested) }
            guard name.utf8.count <= TarHeader.nameSize else { throw .entry(name, .nameTooLong) }
            (self.name, self.bytes) = (path, bytes)
        }
    }

    /// The limits for reading an archive.
    package struct Bounds: Equatable, Sendable {
        /// The size of the archive in bytes.
        ///
        /// Its files are not compressed, so their total never exceeds it.
        package let archive: Int
        package let entries: Int

        package init(archive: Int, entries: Int) {
            self.archive = archive
            self.entries = entries
        }
    }

    /// The files, sorted by the bytes of their names.
    package let files: [File]

    /// - Throws: `doubled` if two files have one name.
    package init(_ files: [File]) throws(TarError) {
        self.files = files.sorted { $0.name < $1.name }
        for (file, next) in zip(self.files, self.files.dropFirst()) where file.name == next.name {
            throw .entry(file.name.text, .doubled)
        }
    }

    package subscript(_ name: String) -> [UInt8]? {
        files.first { $0.name.text.hasSameBytes(as: name) }?.bytes
    }
}

extension TarArchive {
    static let block = 512

    /// The bytes of the archive: files sorted by name, dated 1970, with owner 0, followed by exactly two blocks of zeros.
    package var bytes: [UInt8] {
        var archive: [UInt8] = []
        for file in files {
            archive += TarHeader.bytes(of: file)
            archive += file.bytes
            archive += [UInt8](repeating: 0, count: Self.padding(of: file.bytes.count))
        }
        return archive + [UInt8](repeating: 0, count: 2 * Self.block)
    }

    /// Reads an archive of files without folders, in tar's older and newer formats.
    ///
    /// Every size is compared with the bytes that exist before anything is copied, so a large announced size costs no memory.
    package init(reading bytes: [UInt8], within bounds: Bounds) throws(TarError) {
        guard bytes.count <= bounds.archive else { throw .tooLarge(limit: bounds.archive) }
        guard !bytes.isEmpty, bytes.count.isMultiple(of: Self.block) else { throw .length(bytes.count) }
        var (files, place): ([File], Int) = ([], 0)
        while !Self.isZero(bytes[place..<(place + Self.block)]) {
            guard files.count < bounds.entries else { throw .tooMany(limit: bounds.entries) }
            let header: TarHeader
            do throws(TarError.HeaderRule) {
                header = try TarHeader(bytes[place..<(place + Self.block)])
            } catch { throw .header(files.count + 1, error) }
            place += Self.block
            let end = try header.end(from: place, in: bytes)
            files.append(try File(header.name, Array(bytes[place..<(place + header.size)])))
            place = end
            guard place < bytes.count else { throw .noEnd }
        }
        guard bytes.count >= place + 2 * Self.block, Self.isZero(bytes[place..<(place + 2 * Self.block)]) else {
            throw .noEnd
        }
        guard Self.isZero(bytes[place...]) else { throw .bytesBehind }
        try self.init(files)
    }

    static func padding(of size: Int) -> Int { (block - size % block) % block }

    static func isZero(_ bytes: ArraySlice<UInt8>) -> Bool { bytes.allSatisfy { $0 == 0 } }
}
