/// One thing of a type that scripts may call, and patch: what ``PatchHost/expose(_:_:parent:_:)`` is given.
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
    /// What each argument is, in words.
    let arguments: [String]
    let result: String
    let body: Body
    /// Where Swift's own callers find out whether it is patched; a constructor has none.
    let slot: MethodSlot?
}

/// What is a member, or several: a property is two methods.
public protocol PatchMembers: Sendable {
    var members: [PatchMember] { get }
}

/// Puts the members of a type together.
@resultBuilder
public enum PatchMembersBuilder {
    public static func buildExpression(_ member: some PatchMembers) -> [PatchMember] { member.members }
    public static func buildBlock(_ members: [PatchMember]...) -> [PatchMember] { members.flatMap(\.self) }
    public static func buildOptional(_ members: [PatchMember]?) -> [PatchMember] { members ?? [] }
    public static func buildEither(first members: [PatchMember]) -> [PatchMember] { members }
    public static func buildEither(second members: [PatchMember]) -> [PatchMember] { members }
    public static func buildArray(_ members: [[PatchMember]]) -> [PatchMember] { members.flatMap(\.self) }
}
