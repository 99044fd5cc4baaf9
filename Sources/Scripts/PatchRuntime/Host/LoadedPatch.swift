/// A patch of a host, and what became of it.
struct LoadedPatch {
    let script: PatchScript
    var state = PatchScriptState.waiting
    var failure: PatchFailure?
    var map: SourceMap?
    /// Whether what it left behind may be called.
    var isActive = false
    /// Whether it is being evaluated, or was.
    var hasBegun = false

    var id: String { script.id }
    /// What the engine calls its text.
    var source: String { Self.source(of: id) }

    static func source(of id: String) -> String { id.hasSuffix(".js") ? id : id + ".js" }
}
