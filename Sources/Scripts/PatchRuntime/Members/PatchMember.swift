/// A member of a type that scripts can call and patch.
///
/// See ``PatchHost/expose(_:_:parent:_:)``.
public struct PatchMember: Sendable {
    enum Kind: Equatable, Sendable {
        case method, staticMethod, constructor
    }

    enum Body: Sendable {
        case sync(@Sendable ((any AnyObject & Sendable)?, [PatchValue]) throws -> PatchValue)
        case async(@Sendable ((any AnyObject & Sendable)?, [PatchValue]) async throws -> PatchValue)
    }

    let kind: Kind
    let name: String
    /// The type of each argument in words.
    let arguments: [String]
    let result: String
    let body: Body
    /// The patch state for Swift callers, or nil for a constructor.
    let slot: MethodSlot?
}

/// One or more members of a type; a property, for example, consists of two methods.
public protocol PatchMembers: Sendable {
    var members: [PatchMember] { get }
}

/// Combines the members of a type.
@resultBuilder
public enum PatchMembersBuilder {
    public static func buildExpression(_ member: some PatchMembers) -> [PatchMember] { member.members }
    public static func buildBlock(_ members: [PatchMember]...) -> [PatchMember] { members.flatMap(\.self) }
    public static func buildOptional(_ members: [PatchMember]?) -> [PatchMember] { members ?? [] }
    public static func buildEither(first members: [PatchMember]) -> [PatchMember] { members }
    public static func buildEither(second members: [PatchMember]) -> [PatchMember] { members }
    public static func buildArray(_ members: [[PatchMember]]) -> [PatchMember] { members.flatMap(\.self) }
}
