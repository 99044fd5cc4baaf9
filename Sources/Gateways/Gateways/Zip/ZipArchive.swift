package import PatchFormat

/// A few files in one zip archive, held in memory (PKWARE's APPNOTE.TXT 6.3).
///
/// Equal files give equal bytes. Archives are signed, so reading is strict: two readers of an archive must never see different
/// contents.
package struct ZipArchive: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package let path: AssetPath
        package let bytes: [UInt8]

        package init(_ path: AssetPath, _ bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    /// The limits for reading an archive.
    package struct Bounds: Equatable, Sendable {
        /// The size of the archive in bytes.
        package let archive: Int
        /// The total size of its files in bytes, unpacked.
        package let contents: Int
        /// The number of entries, including those of folders.
        package let entries: Int

        package init(archive: Int, contents: Int, entries: Int) {
            self.archive = archive
            self.contents = contents
            self.entries = entries
        }
    }

    /// The files, sorted by the bytes of their paths.
    package let files: [File]

    /// - Throws: `doubled` if two files have one path.
    package init(_ files: [File]) throws(ZipError) {
        self.files = files.sorted { $0.path < $1.path }
        for (file, next) in zip(self.files, self.files.dropFirst()) where file.path == next.path {
            throw .entry(file.path.text, .doubled)
        }
    }

    package subscript(_ path: String) -> [UInt8]? {
        files.first { $0.path.text.hasSameBytes(as: path) }?.bytes
    }
}
