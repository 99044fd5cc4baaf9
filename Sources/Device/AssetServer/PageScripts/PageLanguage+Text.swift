import PatchLanguage

extension PageLanguage {
    /// The language of script patches, and its connection to a page.
    ///
    /// A script that throws does not stop the others, because each has its own tag. The device receives errors that a script's own
    /// file throws and does not catch, at once or later, and errors that the language throws when a script uses it. Errors thrown
    /// elsewhere belong to the page.
    static let text = """
        (() => {
        "use strict";
        const makeLanguage = \(PatchLanguage.text);
        \(binding)
        })();

        """

    private static let binding = #"""
        const page = window, origin = location.origin, ask = page.fetch.bind(page), later = page.setTimeout.bind(page);
        const write = JSON.stringify, warn = console.warn.bind(console), text = String, tagOf = document;
        const stamp = page[Symbol.for("patchline.page")]?.patchline;
        /// By the URL without its query: the scripts that the device put into this page, or that it was asked to load.
        const put = new Map();
        const folder = origin + "/__patchline/scripts/";
        const fileOf = (url) => text(url).split(/[?#]/)[0];
        /// This very file.
        const own = fileOf(tagOf.currentScript?.src ?? "");
        const note = (tag) => {
          const { patch, version } = tag?.dataset ?? {};
          if (patch !== undefined && !put.has(fileOf(tag.src))) put.set(fileOf(tag.src), { patchId: patch, version });
          return patch;
        };

        /// Those that threw in this page.
        const thrown = new Set();
        // Limits the reports of a page that fails again and again.
        let left = 20;
        const tell = (script, fault, message, line, column) => {
          if (script === undefined) return;
          if (fault === "threw") thrown.add(script.patchId);
          if (left-- <= 0) return;
          const body = write({
            ...(stamp === undefined ? {} : { page: stamp }), ...script, fault,
            message: text(message ?? "").slice(0, 500), line: line > 0 ? line | 0 : 0, column: column > 0 ? column | 0 : 0,
          });
          ask(origin + "/__patchline/script-failed", { method: "POST", keepalive: true, body })
            .then((answer) => answer.json()).then(({ result }) => { if (result === "rolledBack") whenParsed(again); })
            .catch(() => {});
        };
        const whenParsed = (work) => {
          if (tagOf.readyState === "loading") tagOf.addEventListener("DOMContentLoaded", work, { once: true }); else work();
        };
        /// The previous version runs again; this page may have missed the event that reports it.
        const again = () => {
          if (tagOf.querySelector('script[src="/__patchline/launch.js"][data-reload="never"]') === null) location.reload();
        };
        // A script that uses no word of the language is registered here, so that its later errors are reported too.
        tagOf.addEventListener("load", ({ target }) => { if (target?.tagName === "SCRIPT") note(target); }, true);
        const words = (error) => { try { return text(error); } catch { return "it throws"; } };
        /// The first frame of a stack outside the language: that of the caller.
        const beginOf = (error) => {
          let stack = "";
          try { stack = text(error?.stack ?? ""); } catch {}
          for (const [, url, line, column] of stack.matchAll(/(https?:\/\/[^\s()]+?):(\d+):(\d+)/g))
            if (fileOf(url) !== own) return { file: fileOf(url), line: +line, column: +column };
          return undefined;
        };
        page.addEventListener("error", (event) => {
          if (event.target?.tagName === "SCRIPT") {
            if (note(event.target) !== undefined) tell(put.get(fileOf(event.target.src)), "unloaded", "", 0, 0);
          } else if (fileOf(event.filename).startsWith(folder)) {
            note(tagOf.currentScript);
            tell(put.get(fileOf(event.filename)), "threw", event.message, event.lineno, event.colno);
          } else if (fileOf(event.filename) === own) {
            note(tagOf.currentScript);
            const at = beginOf(event.error);
            if (at !== undefined) tell(put.get(at.file), "threw", event.message, at.line, at.column);
          }
        }, true);
        page.addEventListener("unhandledrejection", (event) => {
          const at = beginOf(event.reason);
          if (at !== undefined) tell(put.get(at.file), "threw", words(event.reason), at.line, at.column);
        });

        const failed = (id, error) => {
          const at = beginOf(error), script = [...put.values()].find(({ patchId }) => patchId === id);
          tell(script, "threw", words(error), at?.line ?? 0, at?.column ?? 0);
          warn(`patchline: ${id}: ${words(error)}`);
        };
        const language = makeLanguage({
          global: page, fixed: false, waits: true,
          current: () => note(tagOf.currentScript),
          changed() {},
          schedule(queue, seconds, work) { later(work, seconds * 1000); },
          include(name) { throw new Error(`include: a page has no ${name}; each script of a release is put into it by itself`); },
          failed,
        });
        const { expose, require, defineClass } = language;
        /// The interface for the rest of the device's script, independent of the names that a page defines.
        Object.defineProperty(page, Symbol.for("patchline.language"), {
          value: Object.freeze({ expose, failed: () => [...thrown], has: (id) => [...put.values()].some(({ patchId }) => patchId === id) }),
        });
        if (page.patchline === undefined) page.patchline = { expose };
        page.addEventListener("load", () => {
          const taken = [];
          if (page.patchline?.expose !== expose) taken.push("patchline.expose");
          if (page.defineClass !== defineClass) taken.push("defineClass");
          if (page.require !== require) taken.push("require");
          if (taken.length > 0)
            warn(`patchline: this page has a ${taken.join(", ")} of its own; its script patches see that one from then on`);
        });
        """#
}
