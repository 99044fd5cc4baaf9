package import PatchFormat
import PatchCrypto

/// The port of an app's pages.
///
/// It is the same at every start, because cookies and storage depend on it (M22).
package enum StablePort {
    /// Returns a port from 12000 to 12999.
    ///
    /// Ids that are wholly base-36 receive Meteor's port, 12000 + parseInt(id, 36) mod 1000 as JavaScript computes it. Others
    /// receive 12000 + (first 8 bytes of SHA-256("patchline-port-v1\n" + app), big-endian) mod 1000.
    package static func port(for app: AppID) -> Int {
        12_000 + (meteor(app.text) ?? hashed(app.text))
    }

    private static func hashed(_ text: String) -> Int {
        let digest = SHA256Digest(of: Array("patchline-port-v1\n\(text)".utf8))
        return Int(digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000)
    }

    /// Computes in doubles, and in parts of six digits as V8 does, because the rounding determines the port of a long id.
    private static func meteor(_ text: String) -> Int? {
        let digits = text.utf8.map { byte -> Int? in
            switch byte {
            case 0x30...0x39: Int(byte) - 0x30
            case 0x41...0x5A: Int(byte) - 0x41 + 10
            case 0x61...0x7A: Int(byte) - 0x61 + 10
            default: nil
            }
        }
        var value = 0.0
        var rest = digits[...]
        while !rest.isEmpty {
            var (part, multiplier) = (0, 1)
            while let first = rest.first, multiplier * 36 <= Int(UInt32.max) / 36 {
                guard let digit = first else { return nil }
                part = part * 36 + digit
                multiplier *= 36
                rest = rest.dropFirst()
            }
            value = value * Double(multiplier) + Double(part)
        }
        return Int(value.truncatingRemainder(dividingBy: 1_000))
    }
}
