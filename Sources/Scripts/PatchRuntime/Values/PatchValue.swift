/// A value that is passed between Swift and a script.
public enum PatchValue: Sendable {
    /// `null` or `undefined`.
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([PatchValue])
    /// An object's own members, by name.
    case dictionary([String: PatchValue])
    /// A `Uint8Array`.
    case data([UInt8])
    case date(PatchDate)
    /// A host object. Scripts can pass it on, and call its exposed members.
    case object(any AnyObject & Sendable)
    case function(PatchFunction)
}

/// A moment with the precision of JavaScript's `Date`.
public struct PatchDate: Hashable, Sendable {
    public let millisecondsSince1970: Double

    public init(millisecondsSince1970: Double) {
        self.millisecondsSince1970 = millisecondsSince1970
    }
}

extension PatchValue: Equatable {
    /// Objects and functions are compared by identity.
    public static func == (left: PatchValue, right: PatchValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.object(let left), .object(let right)): left === right
        case (.function(let left), .function(let right)): left === right
        default: false
        }
    }
}

extension PatchValue {
    /// The kind of the value in messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .dictionary: "an object"
        case .data: "data"
        case .date: "a date"
        case .object(let object): "a \(type(of: object))"
        case .function: "a function"
        }
    }
}
