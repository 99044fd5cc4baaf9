/// The language of script patches, as one JavaScript text for hosts in Swift and for pages.
///
/// Its parts share one function, `makePatchLanguage(environment)`, which takes every built-in that it needs before another
/// script can replace it: nothing of it looks anything up on a prototype that scripts may write to. What differs between a host
/// and a page is said by `environment`:
///
/// | member | is |
/// |---|---|
/// | `global` | where `require`, `defineClass` and their like are put, and the names that `require` makes |
/// | `fixed` | whether scripts are kept from replacing those |
/// | `waits` | whether a class that is not exposed yet may come later |
/// | `current()` | the id of the script that is being evaluated where ``begin`` did not say it; may be missing |
/// | `changed(type, isStatic, name, method, id)` | told of each exposed method that has another body now, and whose; no `method`: the original |
/// | `schedule(queue, seconds, work)` | runs `work` later, on queue `main` or `global`; it may throw |
/// | `include(name)` | evaluates a sibling of the running script |
/// | `failed(id, error)` | told of a patch that cannot be laid over what is exposed later; missing: `expose` throws that |
/// | `log(level, text, id)` | takes what `console` is given; missing: the console stays as it is |
///
/// It returns `expose`, `hostType`, `begin`, `end`, `place`, `withdraw`, `blame`, `owner`, `reset`, what a host reads values
/// with (`members`, `awaited`, `describe`), and what scripts see: `require`, `defineClass` and so on.
package enum PatchLanguage {
    /// An expression that is the function `makePatchLanguage`.
    package static let text = """
        (function makePatchLanguage(environment) {
        "use strict";
        \(primordials)
        \(calls)
        \(layers)
        \(types)
        \(definitions)
        \(surroundings)
        })
        """
}
