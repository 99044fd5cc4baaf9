import HTTPFiles
import PatchStore
import Synchronization
import SystemPackage

/// Roles that were read and hashed before, for as long as their files are the same.
///
/// A device's poll asks for the timestamp, and nothing else: reading and hashing it anew each time would cost more than
/// all the rest of the answer.
final class KnownRoles: Sendable {
    private struct Known {
        let identity: FileIdentity
        let served: ServedBytes
    }

    private struct State {
        var roles: [String: Known] = [:]
        var bytes = 0
    }

    /// In bytes, of all of them; what would be more begins anew.
    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    /// Nil for one that was never read, or that was replaced since.
    func served(_ path: FilePath) -> ServedBytes? {
        guard let known = state.withLock({ $0.roles[path.string] }),
            (try? DiskFiles().identity(of: path)) == known.identity
        else { return nil }
        return known.served
    }

    /// - Parameter identity: of the file, from before it was read; it is remembered only if it still is the same.
    func remember(_ served: ServedBytes, of path: FilePath, _ identity: FileIdentity) {
        guard served.bytes.count <= limit, (try? DiskFiles().identity(of: path)) == identity else { return }
        state.withLock { state in
            if state.bytes + served.bytes.count > limit { state = State() }
            let before = state.roles.updateValue(Known(identity: identity, served: served), forKey: path.string)
            state.bytes += served.bytes.count - (before?.served.bytes.count ?? 0)
        }
    }
}
