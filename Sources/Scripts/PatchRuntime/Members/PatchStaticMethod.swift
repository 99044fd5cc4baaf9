/// A static method that a patch may replace, with its entry point for Swift callers.
public struct PatchStaticMethod<each Argument: PatchConvertible, Result: PatchConvertible>: PatchMembers {
    public typealias Original = @Sendable (repeat each Argument) throws -> Result

    private let slot: MethodSlot
    private let original: Original

    public init(_ name: String, _ original: @escaping Original) {
        slot = MethodSlot(name: name)
        self.original = original
    }

    /// Creates a method without a result.
    public init(_ name: String, _ original: @escaping @Sendable (repeat each Argument) throws -> Void)
    where Result == NoValue {
        let returning: Original = { (argument: repeat each Argument) in
            try original(repeat each argument)
            return NoValue()
        }
        self.init(name, returning)
    }

    @discardableResult
    public func callAsFunction(_ argument: repeat each Argument) throws -> Result {
        guard let host = slot.host else { return try original(repeat each argument) }
        var values: [PatchValue] = []
        repeat values.append(try crossing(each argument))
        guard let result = try host.call(slot, on: nil, values, as: Result.self) else {
            return try original(repeat each argument)
        }
        return result
    }

    public var members: [PatchMember] {
        var kinds: [String] = []
        repeat kinds.append((each Argument).patchKind)
        let (original, name, wanted) = (original, slot.name, kinds.count)
        let body: @Sendable ((any AnyObject & Sendable)?, [PatchValue]) throws -> PatchValue = { _, values in
            var reading = try ArgumentReading(values, wanted: wanted, method: name)
            return try crossing(try original(repeat try reading.next((each Argument).self)))
        }
        return [
            PatchMember(
                kind: .staticMethod,
                name: name,
                arguments: kinds,
                result: Result.patchKind,
                body: .sync(body),
                slot: slot
            )
        ]
    }
}

/// The constructor that scripts use: `new CartController(3)`, or `CartController.alloc().init(3)`.
public struct PatchConstructor<each Argument: PatchConvertible>: PatchMembers {
    private let make: @Sendable (repeat each Argument) throws -> any AnyObject & Sendable

    public init<Object: AnyObject & Sendable>(_ make: @escaping @Sendable (repeat each Argument) throws -> Object) {
        self.make = make
    }

    public var members: [PatchMember] {
        var kinds: [String] = []
        repeat kinds.append((each Argument).patchKind)
        let (make, wanted) = (make, kinds.count)
        let body: @Sendable ((any AnyObject & Sendable)?, [PatchValue]) throws -> PatchValue = { _, values in
            var reading = try ArgumentReading(values, wanted: wanted, method: "init")
            return .object(try make(repeat try reading.next((each Argument).self)))
        }
        return [
            PatchMember(kind: .constructor, name: "init", arguments: kinds, result: "", body: .sync(body), slot: nil)
        ]
    }
}
