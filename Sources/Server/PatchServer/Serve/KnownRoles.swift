import HTTPFiles
import NIOConcurrencyHelpers
import PatchFormat
import SystemPackage

/// Roles that were read and hashed before, for as long as their files are the same.
///
/// A device's poll asks for the timestamp, and nothing else: reading and hashing it anew each time would cost more than
/// all the rest of the answer.
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

    /// In bytes, of all of them; what would be more begins anew.
    private let limit: Int
    private let state = NIOLockedValueBox(State())

    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// Nil for one that was never read, or that was replaced since.
    func served(_ path: FilePath, as format: CompressionFormat?) -> ServedBytes? {
        let key = Key(path: path.string, format: format)
        guard let known = state.withLockedValue({ $0.roles[key] }), known.origin?.isCurrent ?? false else {
            return nil
        }
        return known
    }

    /// Remembers what was read of its origin, if that is what it was before it was read.
    func remember(_ served: ServedBytes, of path: FilePath, as format: CompressionFormat?) {
        guard served.bytes.count <= limit, served.origin?.isCurrent ?? false else { return }
        state.withLockedValue { state in
            if state.bytes + served.bytes.count > limit { state = State() }
            let before = state.roles.updateValue(served, forKey: Key(path: path.string, format: format))
            state.bytes += served.bytes.count - (before?.bytes.count ?? 0)
        }
    }
}
