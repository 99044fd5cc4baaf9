/// The language of script patches, as one JavaScript text for hosts in Swift and for pages.
///
/// Its parts share one function, `makePatchLanguage(environment)`, which takes every built-in that it needs before another script
/// can replace it. It never looks up a property on a prototype that scripts can change. `environment` contains the differences
/// between a host and a page:
///
/// | member | meaning |
/// |---|---|
/// | `global` | the object that receives `require`, `defineClass` and the other functions, and the names that `require` makes |
/// | `fixed` | whether scripts are prevented from replacing those functions |
/// | `waits` | whether a class that is not exposed yet may be exposed later |
/// | `current()` | the id of the script that is being evaluated, if ``begin`` was not called for it; optional |
/// | `changed(type, isStatic, name, method, id)` | called when an exposed method has another body; no `method`: the original |
/// | `schedule(queue, seconds, work)` | runs `work` later, on queue `main` or `global`; may throw |
/// | `include(name)` | evaluates a sibling of the running script |
/// | `failed(id, error)` | called if a patch cannot be applied to a class exposed later; if missing, `expose` throws the error |
/// | `log(level, text, id)` | receives the output of `console`; if missing, the console is unchanged |
///
/// It returns `expose`, `hostType`, `begin`, `end`, `place`, `withdraw`, `blame`, `owner`, `reset`, the functions with which a host
/// reads values (`members`, `awaited`, `describe`), and the functions for scripts: `require`, `defineClass` and so on.
package enum PatchLanguage {
    /// An expression that evaluates to the function `makePatchLanguage`.
    package static let text = """
        (function makePatchLanguage(environment) {
        "use strict";
        \(primordials)
        \(calls)
        \(layers)
        \(types)
        \(definitions)
        \(prelude)
        })
        """
}
