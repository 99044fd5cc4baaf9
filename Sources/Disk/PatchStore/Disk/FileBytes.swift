import PatchFormat

/// A file as the source of a document.
package final class FileBytes: ByteSource {
    private let reader: any FileReader
    /// Why the file could not be read to its end: what was made of its bytes counts for nothing then.
    package private(set) var failure: FileError?

    package init(_ reader: any FileReader) {
        self.reader = reader
    }

    package func next() -> [UInt8]? {
        guard failure == nil else { return nil }
        do throws(FileError) {
            return try reader.next()
        } catch {
            failure = error
            return nil
        }
    }
}
