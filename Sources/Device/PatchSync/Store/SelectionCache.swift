import Linux
import NIOConcurrencyHelpers
import PatchChoice
import PatchFormat
import PatchStore
import SystemPackage

/// Caches the selections that were read, by file.
///
/// A process reads a selection again only if its file changed.
final class SelectionCache: Sendable {
    private struct Known {
        let identity: FileIdentity
        let content: SelectionContent
    }

    private let known = NIOLockedValueBox<[FilePath: Known]>([:])

    func content(of path: FilePath, _ identity: FileIdentity) -> SelectionContent? {
        known.withLockedValue { $0[path].flatMap { $0.identity == identity ? $0.content : nil } }
    }

    func keep(_ content: SelectionContent, of path: FilePath, _ identity: FileIdentity) {
        known.withLockedValue { $0[path] = Known(identity: identity, content: content) }
    }

    /// Drops the cached files in `folder` that are not listed.
    func forget(in folder: FilePath, but kept: Set<FilePath>) {
        known.withLockedValue { known in
            known = known.filter { $0.key.removingLastComponent() != folder || kept.contains($0.key) }
        }
    }
}
