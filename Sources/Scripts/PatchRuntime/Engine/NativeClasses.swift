import CJavaScriptCore

/// The engine's classes for Swift functions, objects and errors.
@safe final class NativeClasses: @unchecked Sendable {
    // Sendable: classes are made once and never changed; the engine counts their users atomically.
    static let shared = NativeClasses()

    let function: OpaquePointer
    let object: OpaquePointer
    let error: OpaquePointer

    private init() {
        unsafe function = Self.make { definition in
            unsafe definition.callAsFunction = { context, function, this, count, arguments, thrown in
                guard let box = unsafe JSObjectGetPrivate(function) else { return nil }
                let native = unsafe Unmanaged<NativeFunction>.fromOpaque(box).takeUnretainedValue()
                return unsafe native.called(this: this, count: count, arguments: arguments, thrown: thrown)
            }
            unsafe definition.finalize = { object in
                if let box = unsafe JSObjectGetPrivate(object) {
                    unsafe Unmanaged<NativeFunction>.fromOpaque(box).release()
                }
            }
        }
        unsafe object = Self.make { definition in
            unsafe definition.finalize = { object in
                if let box = unsafe JSObjectGetPrivate(object) {
                    unsafe Unmanaged<HostObjectBox>.fromOpaque(box).release()
                }
            }
        }
        unsafe error = Self.make { definition in
            unsafe definition.finalize = { object in
                if let box = unsafe JSObjectGetPrivate(object) {
                    unsafe Unmanaged<HostErrorBox>.fromOpaque(box).release()
                }
            }
        }
    }

    private static func make(_ fill: (inout JSClassDefinition) -> Void) -> OpaquePointer {
        var definition = unsafe JSClassDefinition()
        // Prototypes are set explicitly.
        unsafe definition.attributes = JSClassAttributes(kJSClassAttributeNoAutomaticPrototype)
        unsafe fill(&definition)
        guard let made = unsafe JSClassCreate(&definition) else { fatalError("there is no memory for a class") }
        return unsafe made
    }
}

/// A host object, kept alive as long as a script refers to its proxy.
final class HostObjectBox {
    let object: any AnyObject & Sendable

    init(_ object: any AnyObject & Sendable) { self.object = object }
}

/// A host function, called by a script on the thread that runs the script.
@safe final class NativeFunction {
    typealias Body = (JavaScriptValue?, NativeArguments) throws -> JavaScriptValue

    private unowned let engine: JavaScriptEngine
    private let body: Body

    init(engine: JavaScriptEngine, _ body: @escaping Body) {
        self.engine = engine
        self.body = body
    }

    fileprivate func called(
        this: OpaquePointer?,
        count: Int,
        arguments: UnsafePointer<OpaquePointer?>?,
        thrown: UnsafeMutablePointer<OpaquePointer?>?
    ) -> OpaquePointer? {
        do {
            let this = unsafe this.map { unsafe JavaScriptValue(raw: $0) }
            return unsafe try body(this, NativeArguments(base: arguments, count: count)).raw
        } catch {
            unsafe thrown?.pointee = engine.errorObject(for: error).raw
            return nil
        }
    }
}

/// The arguments of a script's call of a host function, valid during the call.
@safe struct NativeArguments {
    fileprivate let base: UnsafePointer<OpaquePointer?>?
    let count: Int

    /// Nil if the script passed fewer arguments.
    subscript(place: Int) -> JavaScriptValue? {
        guard place < count, let raw = unsafe base?[place] else { return nil }
        return unsafe JavaScriptValue(raw: raw)
    }
}
