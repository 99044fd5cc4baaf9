/// A property that scripts read with `limit()` and set with `setLimit(value)`, as in JSPatch.
///
/// Both methods can be patched.
public struct PatchProperty<Object: AnyObject & Sendable, Value: PatchConvertible>: PatchMembers {
    private let getter: PatchMethod<Object, Value>
    private let setter: PatchMethod<Object, Value, NoValue>?

    /// Creates a property that scripts can read, and can set if `set` is given.
    public init(
        _ name: String,
        get: @escaping @Sendable (Object) throws -> Value,
        set: (@Sendable (Object, Value) throws -> Void)? = nil
    ) {
        getter = PatchMethod(name, get)
        setter = set.map { set in
            PatchMethod("set" + name.prefix(1).uppercased() + name.dropFirst()) { (object: Object, value: Value) in
                try set(object, value)
                return NoValue()
            }
        }
    }

    public func value(of object: Object) throws -> Value { try getter(object) }

    /// Sets the value, with no effect on a property without `set`.
    public func set(_ value: Value, of object: Object) throws { try setter?(object, value) }

    public var members: [PatchMember] { getter.members + (setter?.members ?? []) }
}
