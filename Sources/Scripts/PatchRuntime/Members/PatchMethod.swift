/// A method that a patch may replace, with its entry point for Swift callers.
///
/// ```swift
/// final class CartController: PatchExposed {
///     private static let patchableTotal = PatchMethod("total") { (cart: CartController) in cart.sum() }
///
///     func total() throws -> Int { try Self.patchableTotal(self) }
/// }
/// ```
///
/// Without a patch, a call costs the closure and one atomic load. With a patch, the call runs the patch under the host's lock, on
/// the calling thread. It throws the errors of the patch and of an original that the patch calls.
public struct PatchMethod<Object: AnyObject & Sendable, each Argument: PatchConvertible, Result: PatchConvertible>:
    PatchMembers
{
    public typealias Original = @Sendable (Object, repeat each Argument) throws -> Result

    private let slot: MethodSlot
    private let original: Original

    public init(_ name: String, _ original: @escaping Original) {
        slot = MethodSlot(name: name)
        self.original = original
    }

    /// Creates a method without a result.
    public init(_ name: String, _ original: @escaping @Sendable (Object, repeat each Argument) throws -> Void)
    where Result == NoValue {
        let returning: Original = { (object: Object, argument: repeat each Argument) in
            try original(object, repeat each argument)
            return NoValue()
        }
        self.init(name, returning)
    }

    @discardableResult
    public func callAsFunction(_ object: Object, _ argument: repeat each Argument) throws -> Result {
        guard let host = slot.host else { return try original(object, repeat each argument) }
        var values: [PatchValue] = []
        repeat values.append(try crossing(each argument))
        guard let result = try host.call(slot, on: object, values, as: Result.self) else {
            return try original(object, repeat each argument)
        }
        return result
    }

    public var members: [PatchMember] {
        var kinds: [String] = []
        repeat kinds.append((each Argument).patchKind)
        let (original, name, wanted) = (original, slot.name, kinds.count)
        let body: @Sendable ((any AnyObject & Sendable)?, [PatchValue]) throws -> PatchValue = { object, values in
            let object = try PatchMember.object(object, as: Object.self, method: name)
            var reading = try ArgumentReading(values, wanted: wanted, method: name)
            return try crossing(try original(object, repeat try reading.next((each Argument).self)))
        }
        return [
            PatchMember(
                kind: .method,
                name: name,
                arguments: kinds,
                result: Result.patchKind,
                body: .sync(body),
                slot: slot
            )
        ]
    }
}

/// Converts a Swift value for a script.
func crossing(_ value: some PatchConvertible) throws(PatchCallError) -> PatchValue {
    do throws(PatchMismatch) { return try value.patchValue } catch { throw .mismatch(error) }
}
