/// A host type that scripts can use.
struct ExposedType {
    let name: String
    let parent: String?
    let isInstance: (any AnyObject & Sendable) -> Bool
    let members: [PatchMember]
    /// The class in JavaScript.
    let target: HeldValue
    /// The prototype of its objects.
    let prototype: HeldValue
}
