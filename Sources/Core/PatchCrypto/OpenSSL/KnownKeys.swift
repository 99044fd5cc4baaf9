import PatchFormat
import Synchronization

/// Keys that this process has read already, by their PEM.
///
/// Every role names its keys anew, and libcrypto takes longer to read one than to check a signature with it.
enum KnownKeys {
    /// More are forgotten, all at once: a repository has a dozen.
    private static let limit = 64
    /// In bytes: a PEM of the largest key that can be used has 1.5 kB.
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
