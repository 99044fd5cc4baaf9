import HTTPFiles
import NIOConcurrencyHelpers
import PatchFormat
import SystemPackage

/// Cached roles with their digests, valid while their files are unchanged.
///
/// A device's poll requests only the timestamp. Reading and hashing it each time would cost more than the rest of the answer.
final class KnownRoles: Sendable {
    private struct Key: Hashable {
        let path: String
        /// Nil for the plain bytes.
        let format: CompressionFormat?
    }

    private struct State {
        var roles: [Key: ServedBytes] = [:]
        var bytes = 0
    }

    /// The limit of the cache in bytes; if exceeded, the cache is emptied.
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// The cached role, or nil if it was never read or was replaced since.
    func served(_ path: FilePath, as format: CompressionFormat?) -> ServedBytes? {
        let key = Key(path: path.string, format: format)
        guard let known = state.withLockedValue({ $0.roles[key] }), known.origin?.isCurrent ?? false else {
            return nil
        }
        return known
    }

    /// Caches a role, if its file is still the one that was read.
    func remember(_ served: ServedBytes, of path: FilePath, as format: CompressionFormat?) {
        guard served.bytes.count <= limit, served.origin?.isCurrent ?? false else { return }
        state.withLockedValue { state in
            if state.bytes + served.bytes.count > limit { state = State() }
            let before = state.roles.updateValue(served, forKey: Key(path: path.string, format: format))
            state.bytes += served.bytes.count - (before?.bytes.count ?? 0)
        }
    }
}
