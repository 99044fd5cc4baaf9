/// Why bytes are not a valid form, in a query or an URL-encoded body.
package enum FormFault: Error, Equatable, Sendable {
    /// A `%` without two hexadecimal digits after it.
    case badEscape
    case notUTF8
    case tooManyFields
}

/// The names and values of a form, decoded from a query or an URL-encoded body.
struct FormFields: Sendable {
    static let limit = 16

    private var fields: [(name: String, value: String)] = []

    init(_ bytes: some Collection<UInt8>) throws(FormFault) {
        for field in bytes.split(separator: UInt8(ascii: "&")) {
            guard fields.count < Self.limit else { throw .tooManyFields }
            let sides = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let value = sides.count > 1 ? try Self.decoded(sides[1]) : ""
            fields.append((try Self.decoded(sides[0]), value))
        }
    }

    /// Returns the path in the only field with this name.
    func path(_ name: String) throws(UploaderError) -> ItemPath {
        let values = fields.filter { $0.name == name }
        guard let only = values.first else { throw .missing(name) }
        guard values.count == 1 else { throw .doubled(name) }
        do throws(ItemFault) { return try ItemPath(only.value) } catch { throw .badPath(error) }
    }

    private static func decoded(_ bytes: some Sequence<UInt8>) throws(FormFault) -> String {
        var decoded: [UInt8] = []
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { throw .badEscape }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self) else { throw .notUTF8 }
        return text
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
