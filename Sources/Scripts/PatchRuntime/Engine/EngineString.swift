import CJavaScriptCore

/// A string of the engine.
@safe struct EngineString: ~Copyable {
    let raw: OpaquePointer

    init(_ text: String) {
        // The engine's UTF-8 conversion stops at a zero byte, so UTF-16 is passed. Nearly all texts are short.
        let units = Array(text.utf16)
        guard
            let raw = unsafe units.withUnsafeBufferPointer({
                unsafe JSStringCreateWithCharacters($0.baseAddress, $0.count)
            })
        else { fatalError("there is no memory for a text") }
        unsafe self.raw = raw
    }

    init(taking raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe JSStringRelease(raw) }

    /// Its text, with unpaired surrogates replaced.
    var text: String {
        let count = unsafe JSStringGetLength(raw)
        guard count > 0, let units = unsafe JSStringGetCharactersPtr(raw) else { return "" }
        return unsafe String(decoding: UnsafeBufferPointer(start: units, count: count), as: UTF16.self)
    }
}
