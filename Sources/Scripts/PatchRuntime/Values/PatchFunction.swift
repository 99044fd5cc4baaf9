/// A function that can be passed between Swift and scripts in both directions.
///
/// A script's function belongs to the patch that passed it to Swift. Once that patch is withdrawn, calling the function throws
/// ``PatchCallError/withdrawn(patch:)``.
public final class PatchFunction: Sendable {
    enum Body: Sendable {
        case swift(@Sendable ([PatchValue]) throws -> PatchValue)
        case script(any ScriptFunction)
    }

    let body: Body

    /// Creates a function that scripts can call.
    public init(_ body: @escaping @Sendable ([PatchValue]) throws -> PatchValue) {
        self.body = .swift(body)
    }

    init(_ function: any ScriptFunction) {
        body = .script(function)
    }

    /// Calls the function with the limits of a call into a patch.
    @discardableResult
    public func callAsFunction(_ arguments: any PatchConvertible...) throws -> PatchValue {
        try call(arguments.map { try $0.patchValue })
    }

    public func call(_ arguments: [PatchValue]) throws -> PatchValue {
        switch body {
        case .swift(let body): try body(arguments)
        case .script(let function): try function.call(arguments)
        }
    }
}

extension PatchFunction: PatchConvertible {
    public static var patchKind: String { "a function" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> PatchFunction {
        guard case .function(let value) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        return value
    }

    public var patchValue: PatchValue { .function(self) }
}

/// A script's function for the host.
protocol ScriptFunction: Sendable {
    func call(_ arguments: [PatchValue]) throws -> PatchValue
}
