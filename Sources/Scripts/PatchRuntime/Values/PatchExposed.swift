/// A class whose objects scripts are given: what is exposed of it can be called there, and patched.
///
/// ```swift
/// final class CartController: PatchExposed { … }
/// ```
///
/// An object of it stands for itself in a script: handed over twice, it is the same one. It is `Sendable`, as a script calls it on
/// whatever thread called the script.
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
