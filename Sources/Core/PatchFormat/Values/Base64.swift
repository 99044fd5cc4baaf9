import FoundationEssentials

/// RFC 4648 §4, padded, in its canonical spelling: decoded bytes must encode to the same text.
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
    }

    package static func bytes(_ text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString().hasSameBytes(as: text) else {
            return nil
        }
        return Array(data)
    }
}
