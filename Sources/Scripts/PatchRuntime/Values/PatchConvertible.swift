/// A Swift type whose values can be passed to and from scripts.
public protocol PatchConvertible: Sendable {
    /// The name of the type in messages, such as `a whole number`.
    static var patchKind: String { get }
    static func from(_ value: PatchValue) throws(PatchMismatch) -> Self
    var patchValue: PatchValue { get throws(PatchMismatch) }
}

/// A value does not have the expected type.
public struct PatchMismatch: Error, Equatable, Sendable, CustomStringConvertible {
    public let wanted: String
    public let found: String

    public init(wanted: String, found: PatchValue) { self.init(wanted: wanted, found: found.kind) }

    init(wanted: String, found: String) {
        self.wanted = wanted
        self.found = found
    }

    public var description: String { "is \(found) and should be \(wanted)" }
}

extension PatchValue: PatchConvertible {
    public static var patchKind: String { "any value" }
    public static func from(_ value: PatchValue) -> PatchValue { value }
    public var patchValue: PatchValue { self }
}

/// The result of a method without a result.
public struct NoValue: PatchConvertible, Equatable {
    public init() {}
    public static var patchKind: String { "anything" }
    public static func from(_ value: PatchValue) -> NoValue { NoValue() }
    public var patchValue: PatchValue { .null }
}

extension Bool: PatchConvertible {
    public static var patchKind: String { "a boolean" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> Bool {
        guard case .boolean(let value) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return value
    }

    public var patchValue: PatchValue { .boolean(self) }
}

extension Double: PatchConvertible {
    public static var patchKind: String { "a number" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> Double {
        guard case .number(let value) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return value
    }

    public var patchValue: PatchValue { .number(self) }
}

extension Int: PatchConvertible {
    public static var patchKind: String { "a whole number" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> Int {
        guard case .number(let number) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        guard let whole = Int(exactly: number) else { throw PatchMismatch(wanted: patchKind, found: "\(number)") }
        return whole
    }

    /// JavaScript has whole numbers up to 2^53.
    ///
    /// Numbers that would be rounded are rejected.
    public var patchValue: PatchValue {
        get throws(PatchMismatch) {
            guard let number = Double(exactly: self) else {
                throw PatchMismatch(wanted: "a whole number that JavaScript supports", found: "\(self)")
            }
            return .number(number)
        }
    }
}

extension String: PatchConvertible {
    public static var patchKind: String { "a string" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> String {
        guard case .string(let value) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return value
    }

    public var patchValue: PatchValue { .string(self) }
}

extension PatchDate: PatchConvertible {
    public static var patchKind: String { "a date" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> PatchDate {
        guard case .date(let value) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return value
    }

    public var patchValue: PatchValue { .date(self) }
}

/// Bytes, which scripts receive as a `Uint8Array`.
public struct PatchData: PatchConvertible, Hashable {
    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public static var patchKind: String { "data" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> PatchData {
        guard case .data(let bytes) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return PatchData(bytes)
    }

    public var patchValue: PatchValue { .data(bytes) }
}
