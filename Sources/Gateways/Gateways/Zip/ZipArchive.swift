package import PatchFormat

/// A few files in one zip archive, all of it in memory (PKWARE's APPNOTE.TXT 6.3).
///
/// What is written is the same for the same files, and what is read is as strict as a signature over its bytes asks for: two
/// readers of an archive must never see two contents.
package struct ZipArchive: Equatable, Sendable {
    package struct File: Equatable, Sendable {
        package let path: AssetPath
        package let bytes: [UInt8]

        package init(_ path: AssetPath, _ bytes: [UInt8]) {
            self.path = path
            self.bytes = bytes
        }
    }

    /// How much of an archive is read.
    package struct Bounds: Equatable, Sendable {
        /// The archive itself, in bytes.
        package let archive: Int
        /// All of its files together, in bytes, as they come out.
        package let contents: Int
        /// Files, and folders that stand as entries of their own.
        package let entries: Int

        package init(archive: Int, contents: Int, entries: Int) {
            self.archive = archive
            self.contents = contents
            self.entries = entries
        }
    }

    /// By the bytes of their paths.
    package let files: [File]

    /// - Throws: `doubled` where two files have one path.
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
