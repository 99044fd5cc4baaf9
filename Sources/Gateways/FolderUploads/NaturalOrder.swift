/// The order in which people search for names: case is ignored, and numbers are compared by value.
struct NaturalOrder: Comparable, Sendable {
    private let folded: [UInt8]
    private let exact: [UInt8]

    init(_ name: String) {
        folded = Array(name.lowercased().utf8)
        exact = Array(name.utf8)
    }

    static func < (a: NaturalOrder, b: NaturalOrder) -> Bool {
        var (left, right) = (a.folded[...], b.folded[...])
        while let one = left.first, let other = right.first {
            if one.isDigit, other.isDigit {
                let (number, another) = (left.takeNumber(), right.takeNumber())
                if number.count != another.count { return number.count < another.count }
                if !number.elementsEqual(another) { return number.lexicographicallyPrecedes(another) }
            } else {
                if one != other { return one < other }
                left.removeFirst()
                right.removeFirst()
            }
        }
        if left.isEmpty != right.isEmpty { return left.isEmpty }
        return a.exact.lexicographicallyPrecedes(b.exact)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }
}

extension ArraySlice<UInt8> {
    /// Takes the digits at the start, and drops leading zeros.
    fileprivate mutating func takeNumber() -> ArraySlice {
        let digits = prefix { $0.isDigit }
        self = self[digits.endIndex...]
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
