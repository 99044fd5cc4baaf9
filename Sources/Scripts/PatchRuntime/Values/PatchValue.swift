/// A value on its way between Swift and a script.
public enum PatchValue: Sendable {
    /// `null`, and `undefined`.
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
    /// An object of the host's: scripts can hand it on, and call what is exposed of it.
    case object(any AnyObject & Sendable)
    case function(PatchFunction)
}

/// A moment as JavaScript's `Date` has it.
public struct PatchDate: Hashable, Sendable {
    public let millisecondsSince1970: Double

    public init(millisecondsSince1970: Double) {
        self.millisecondsSince1970 = millisecondsSince1970
    }
}

extension PatchValue: Equatable {
    /// Objects and functions are equal to themselves alone.
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
    /// What it is, in the words of messages.
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
