/// A type of the host's that scripts know.
struct ExposedType {
    let name: String
    let parent: String?
    let isInstance: (any AnyObject & Sendable) -> Bool
    let members: [PatchMember]
    /// The class in JavaScript.
    let target: HeldValue
    /// What objects of it have as prototype.
    let prototype: HeldValue
}
