import PatchFormat
import PatchCrypto

/// SHA-256(salt ‖ device id), as one big-endian number, mod 10,000: stable, independent between releases, checkable offline.
package struct Cohort: Comparable, Sendable {
    package let number: Int

    package init(salt: [UInt8], deviceID: [UInt8]) {
        number = SHA256Digest(of: salt + deviceID).bytes.reduce(0) { ($0 * 256 + Int($1)) % 10_000 }
    }

    package static func < (left: Cohort, right: Cohort) -> Bool {
        left.number < right.number
    }
}
