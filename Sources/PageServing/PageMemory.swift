import NIOConcurrencyHelpers
import PageDiff
package import PatchFormat

/// Pages that were sent, for as long as there is room: what later ones are compressed against.
///
/// One that went is none: the next page is sent without it.
package final class PageMemory: Sendable {
    private struct State {
        var pages: [SHA256Digest: (page: [UInt8], used: Int)] = [:]
        var bytes = 0
        var uses = 0
    }

    /// Bytes in all.
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    package init(limit: Int) {
        self.limit = limit
    }

    package var bytes: Int { state.withLockedValue(\.bytes) }

    package func page(_ digest: SHA256Digest) -> [UInt8]? {
        state.withLockedValue { state in
            guard let found = state.pages[digest]?.page else { return nil }
            state.uses += 1
            state.pages[digest]?.used = state.uses
            return found
        }
    }

    func keep(_ page: [UInt8], as digest: SHA256Digest) {
        guard page.count <= limit else { return }
        state.withLockedValue { state in
            state.uses += 1
            if state.pages[digest] == nil { state.bytes += page.count }
            state.pages[digest] = (page, state.uses)
            while state.bytes > limit, let oldest = state.pages.min(by: { $0.value.used < $1.value.used }) {
                state.pages[oldest.key] = nil
                state.bytes -= oldest.value.page.count
            }
        }
    }
}
