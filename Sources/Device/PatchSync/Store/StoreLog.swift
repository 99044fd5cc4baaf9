package import PatchFormat
package import PatchStore
package import SystemPackage

/// What happened to a store, a line of JSON each: two files at most, the older one renamed when the newer one is full.
///
/// It is never durable and never in the way: where nothing can be written, nothing is said. Programs that work on one store may
/// write at the same time.
package struct StoreLog: Sendable {
    /// Bytes of each of the two files, about.
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
        // A line that a crash tore ends here, and costs no other.
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

    /// Unless another program does it just now, or did.
    private func rotate() throws(FileError) {
        guard let lock = try? StoreLock(lock) else { return }
        defer { withExtendedLifetime(lock) {} }
        let writer = try files.append(to: file)
        let size = writer.offset
        try writer.close()
        guard size > Self.limit / 2 else { return }
        try files.rename(file, to: previous)
    }

    /// Oldest first; what is no line of ours is passed over.
    package func lines() -> [JSON] {
        [previous, file].flatMap { path -> [JSON] in
            guard let bytes = try? files.read(path, limit: 4 * Self.limit) else { return [] }
            return bytes.split(separator: 0x0A).compactMap { try? JSON(parsing: Array($0)) }.filter { $0["at"] != nil }
        }
    }
}
