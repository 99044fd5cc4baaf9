import PatchFormat
import Synchronization

/// A cache of the keys that this process has read, by their PEM.
///
/// Every role lists its keys again, and libcrypto needs more time to read a key than to verify a signature with it.
enum KnownKeys {
    /// The cache is emptied at this size.
    ///
    /// A repository has about a dozen keys.
    private static let limit = 64
    /// The longest PEM that is stored, in bytes.
    ///
    /// A PEM of the largest usable key has 1.5 kB.
    private static let longest = 4_096

    private static let keys = Mutex<[ExactString: PublicKey]>([:])

    static func key(_ pem: String) -> PublicKey? {
        keys.withLock { $0[ExactString(pem)] }
    }

    static func add(_ key: PublicKey, _ pem: String) {
        guard pem.utf8.count <= longest else { return }
        keys.withLock { keys in
            if keys.count >= limit { keys.removeAll() }
            keys[ExactString(pem)] = key
        }
    }
}
