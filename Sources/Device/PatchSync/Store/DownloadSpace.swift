package import PatchChoice
package import PatchFormat
package import PatchStore

/// The room for downloads on a store's file system.
package struct DownloadSpace: Equatable, Sendable {
    /// The standard reserve: 1 % of the file system, between 16 MB and 256 MB, and never more than half of the file system.
    package static func standardReserve(of total: Int?) -> Int {
        let part = min(max(smallestReserve, (total ?? 0) / 100), largestReserve)
        return min(part, (total ?? .max) / 2)
    }

    /// Bytes of one disk block.
    ///
    /// A file occupies whole blocks.
    static let block = 4_096

    private static let smallestReserve = 16_000_000
    private static let largestReserve = 256_000_000

    package let free: Int
    package let reserve: Int

    /// - Parameter reserve: The device's own reserve in bytes, or nil for the standard one.
    package init(_ space: DiskSpace, reserve: Int?) {
        free = space.freeBytes
        self.reserve = reserve ?? Self.standardReserve(of: space.totalBytes)
    }

    /// Returns nil if so many bytes fit.
    package func wait(for needs: Int) -> SpaceShortage? {
        needs <= max(0, free - reserve) ? nil : SpaceShortage(needs: needs, free: free, reserve: reserve)
    }

    /// The bytes that a file of this size occupies on the disk.
    static func taken(by size: Int) -> Int {
        let (sum, overflow) = size.addingReportingOverflow(block - 1)
        return overflow ? .max : sum / block * block
    }
}

extension DeviceStore {
    /// Returns nil if the free space is unknown.
    package func room(reserve: Int?) -> DownloadSpace? {
        files.space(at: root).map { DownloadSpace($0, reserve: reserve) }
    }
}

/// A version that a sync did not download for lack of disk space.
package struct OversizedVersion: Equatable, Sendable {
    package let content: PatchContent
    package let label: Label
    package let wait: SpaceShortage

    package init(content: PatchContent, label: Label, wait: SpaceShortage) {
        (self.content, self.label, self.wait) = (content, label, wait)
    }

    package var words: String { "\(label) \(wait)" }
}

extension DeviceState {
    /// The versions that still do not fit in the present room.
    func noRoom(_ room: DownloadSpace?) -> [OversizedVersion] {
        guard let room else { return [] }
        return noRoom.rows.sorted { $0.key < $1.key }.compactMap { content, row in
            room.wait(for: row.needs).map {
                OversizedVersion(
                    content: content,
                    label: Label(patchID: content.patchID, version: row.version),
                    wait: $0
                )
            }
        }
    }
}
