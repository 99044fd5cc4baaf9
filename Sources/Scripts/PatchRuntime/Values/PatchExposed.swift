/// A class whose objects can be passed to scripts, which can call and patch its exposed members.
///
/// ```swift
/// final class CartController: PatchExposed { … }
/// ```
///
/// An object keeps its identity in scripts: passed twice, it is the same object. It must be `Sendable`, because scripts call it on
/// any thread that calls the script.
public protocol PatchExposed: AnyObject, PatchConvertible {}

extension PatchExposed {
    public static var patchKind: String { "a \(Self.self)" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> Self {
        guard case .object(let object) = value, let object = object as? Self else {
            throw PatchMismatch(wanted: patchKind, found: value)
        }
        return object
    }

    public var patchValue: PatchValue { .object(self) }
}
