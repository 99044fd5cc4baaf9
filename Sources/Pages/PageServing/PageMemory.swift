import NIOConcurrencyHelpers
package import PatchFormat

/// Pages that were sent, for as long as there is room: what later ones are compressed against.
///
/// One that went is none: the next page is sent without it.
package final class PageMemory: Sendable {
    private struct Pages {
        var pages: [SHA256Digest: [UInt8]] = [:]
        var bytes = 0
    }

    private struct State {
        /// Used since the others were put aside.
        var young = Pages()
        /// Used before that; gone when the young ones are put aside.
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

    /// What one counts for beside its bytes.
    static let overhead = 256

    /// Bytes of either half.
    private let half: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter limit: bytes in all; a page may take half of it.
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
