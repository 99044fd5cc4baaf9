import NIOConcurrencyHelpers
package import PatchFormat

/// Pages that were sent, within a size limit.
///
/// Later ones are compressed against them.
///
/// If a page was evicted, the next one is sent without it.
package final class PageMemory: Sendable {
    private struct Pages {
        var pages: [SHA256Digest: [UInt8]] = [:]
        var bytes = 0
    }

    private struct State {
        /// Pages used since the last rotation.
        var young = Pages()
        /// Pages used before the last rotation.
        ///
        /// They are removed at the next one.
        var old = Pages()

        mutating func use(_ page: [UInt8], as digest: SHA256Digest, half: Int) {
            let size = page.count + PageMemory.overhead
            guard young.pages[digest] == nil, size <= half else { return }
            if young.bytes + size > half { (old, young) = (young, Pages()) }
            if old.pages.removeValue(forKey: digest) != nil { old.bytes -= size }
            young.pages[digest] = page
            young.bytes += size
        }
    }

    /// The bytes that an entry counts in addition to its page.
    static let overhead = 256

    /// The maximum size of each half in bytes.
    private let half: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter limit: The total size in bytes. One page may use half of it.
    package init(limit: Int) {
        half = limit / 2
    }

    package var bytes: Int { state.withLockedValue { $0.young.bytes + $0.old.bytes } }

    package func page(_ digest: SHA256Digest) -> [UInt8]? {
        state.withLockedValue { state in
            guard let found = state.young.pages[digest] ?? state.old.pages[digest] else { return nil }
            state.use(found, as: digest, half: half)
            return found
        }
    }

    func keep(_ page: [UInt8], as digest: SHA256Digest) {
        state.withLockedValue { $0.use(page, as: digest, half: half) }
    }
}
