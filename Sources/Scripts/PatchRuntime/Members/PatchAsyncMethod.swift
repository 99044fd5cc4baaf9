/// An async method that a patch may replace, with its entry point for Swift callers.
///
/// Scripts receive a promise of its result, and a patch may return a promise.
public struct PatchAsyncMethod<Object: AnyObject & Sendable, each Argument: PatchConvertible, Result: PatchConvertible>:
    PatchMembers
{
    public typealias Original = @Sendable (Object, repeat each Argument) async throws -> Result

    private let slot: MethodSlot
    private let original: Original

    public init(_ name: String, _ original: @escaping Original) {
        slot = MethodSlot(name: name)
        self.original = original
    }

    /// Creates a method without a result.
    public init(_ name: String, _ original: @escaping @Sendable (Object, repeat each Argument) async throws -> Void)
    where Result == NoValue {
        let returning: Original = { (object: Object, argument: repeat each Argument) in
            try await original(object, repeat each argument)
            return NoValue()
        }
        self.init(name, returning)
    }

    @discardableResult
    public func callAsFunction(_ object: Object, _ argument: repeat each Argument) async throws -> Result {
        guard let host = slot.host else { return try await original(object, repeat each argument) }
        var values: [PatchValue] = []
        repeat values.append(try crossing(each argument))
        guard let result = try await host.callAsync(slot, on: object, values, as: Result.self) else {
            return try await original(object, repeat each argument)
        }
        return result
    }

    public var members: [PatchMember] {
        var kinds: [String] = []
        repeat kinds.append((each Argument).patchKind)
        let (original, name, wanted) = (original, slot.name, kinds.count)
        let body: @Sendable ((any AnyObject & Sendable)?, [PatchValue]) async throws -> PatchValue = { object, values in
            let object = try PatchMember.object(object, as: Object.self, method: name)
            var reading = try ArgumentReading(values, wanted: wanted, method: name)
            return try crossing(try await original(object, repeat try reading.next((each Argument).self)))
        }
        return [
            PatchMember(
                kind: .method,
                name: name,
                arguments: kinds,
                result: Result.patchKind,
                body: .async(body),
                slot: slot
            )
        ]
    }
}
