import PatchFormat

/// A file as the source of a document's bytes.
package final class FileBytes: ByteSource {
    private let reader: any FileReader
    /// The error that ended reading early.
    ///
    /// A result made from incomplete bytes must be discarded.
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
