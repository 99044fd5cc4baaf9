/// A patch of a host and its state.
struct LoadedPatch {
    let script: PatchScript
    var state = PatchScriptState.waiting
    var failure: PatchFailure?
    var map: SourceMap?
    /// Whether its functions and deferred work may be called.
    var isActive = false
    /// Whether its evaluation has begun.
    var hasBegun = false

    var id: String { script.id }
    /// The source name of its text in the engine.
    var source: String { Self.source(of: id) }

    static func source(of id: String) -> String { id.hasSuffix(".js") ? id : id + ".js" }
}
