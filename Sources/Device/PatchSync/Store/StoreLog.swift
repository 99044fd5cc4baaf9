package import PatchFormat
package import PatchStore
package import SystemPackage

/// The events of a store, one line of JSON each.
///
/// There are at most two files. The older one is renamed when the newer one is full.
///
/// The log is not durable. If it cannot be written, the events are dropped. Several programs that use one store may write at the
/// same time.
package struct StoreLog: Sendable {
    /// The approximate size limit in bytes of each of the two files.
    package static let limit = 256 * 1024

    package let file: FilePath
    private let previous: FilePath
    private let lock: FilePath
    private let files: any FileOperations

    /// - Parameter root: the store's folder.
    package init(_ root: FilePath, files: any FileOperations = DiskFiles()) {
        (file, previous) = (root.at("events.log"), root.at("events.previous.log"))
        lock = root.at("events.lock")
        self.files = files
    }

    package func append(_ lines: [JSON]) {
        guard !lines.isEmpty else { return }
        // The leading newline ends a line that a crash truncated, so that only that line is lost.
        let bytes = lines.flatMap { line -> [UInt8] in [0x0A] + line.fileBytes + [0x0A] }
        try? write(bytes)
    }

    private func write(_ bytes: [UInt8]) throws(FileError) {
        let writer = try opened()
        guard writer.offset > 0, writer.offset + bytes.count > Self.limit else {
            try writer.append(bytes)
            return try writer.close()
        }
        try writer.close()
        try rotate()
        let fresh = try opened()
        try fresh.append(bytes)
        try fresh.close()
    }

    private func opened() throws(FileError) -> any FileWriter {
        do throws(FileError) { return try files.append(to: file) } catch .notFound {
            do throws(FileError) { try files.create(file, permissions: .privateFile).close() } catch .exists {}
            return try files.append(to: file)
        }
    }

    /// Exchanges the files, unless another program is doing it or has done it.
    private func rotate() throws(FileError) {
        guard let lock = try? StoreLock(lock) else { return }
        defer { withExtendedLifetime(lock) {} }
        let writer = try files.append(to: file)
        let size = writer.offset
        try writer.close()
        guard size > Self.limit / 2 else { return }
        try files.rename(file, to: previous)
    }

    /// The events, oldest first.
    ///
    /// Lines that are not valid are skipped.
    package func lines() -> [JSON] {
        [previous, file].flatMap { path -> [JSON] in
            guard let bytes = try? files.read(path, limit: 4 * Self.limit) else { return [] }
            return bytes.split(separator: 0x0A).compactMap { try? JSON(parsing: Array($0)) }.filter { $0["at"] != nil }
        }
    }
}
