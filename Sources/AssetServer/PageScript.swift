/// `/__patchline/launch.js`: `window.patchline`, which depends on nothing.
///
/// Its text is constant. The release stamp of the document says which version the page speaks for. A hidden page has no
/// stream of events, because browsers open only six connections to one server; it receives the rest when it shows again.
enum PageScript {
    static let text = """
        (() => {
          const call = async (path, method, headers) => {
            const answer = await fetch("/__patchline/" + path, { method, headers, cache: "no-store" });
            const body = await answer.json();
            if (!answer.ok) throw new Error(body.error);
            return body;
          };
          // What script patches are written in, where the device put any into this page.
          const languageOf = () => window[Symbol.for("patchline.language")];
          // What was exposed before, for a language that is loaded later.
          const exposed = [];
          const isHere = (pages) => {
            if (pages === undefined) return true;
            const path = location.pathname.split("/").filter((part) => part !== "").map(decodeURIComponent);
            return pages.some((pattern) => {
              const parts = pattern.split("/").filter((part) => part !== "");
              const isOpen = parts.at(-1) === "**";
              if (isOpen) parts.pop();
              return (isOpen ? path.length >= parts.length : path.length === parts.length)
                && parts.every((part, at) => part === "*" || part === path[at]);
            });
          };
          const load = (url, name, data) => new Promise((done, fail) => {
            const tag = document.createElement("script");
            let fault = null;
            const note = (event) => { if (event.filename === tag.src) fault = event.message || "it throws"; };
            const end = (why) => {
              removeEventListener("error", note);
              why ? fail(new Error(name + ": " + why)) : done();
            };
            addEventListener("error", note);
            tag.onload = () => end(fault);
            tag.onerror = () => end("could not be loaded");
            Object.assign(tag.dataset, data);
            tag.src = url;
            document.head.append(tag);
          });
          const listeners = {};
          let source = null;
          let last = "";
          const hear = (name) => source.addEventListener(name, (event) => {
            last = event.lastEventId || last;
            for (const take of listeners[name]) take(JSON.parse(event.data));
          });
          const open = () => {
            if (source || document.hidden || document.readyState === "loading" || !Object.keys(listeners).length) return;
            source = new EventSource("/__patchline/events" + (last ? "?after=" + last : ""));
            Object.keys(listeners).forEach(hear);
          };
          // Scripts that run by then hear how the stream begins.
          document.addEventListener("DOMContentLoaded", open);
          document.addEventListener("visibilitychange", () => {
            if (document.hidden) { source?.close(); source = null; } else open();
          });
          const page = window[Symbol.for("patchline.page")]?.patchline ?? null;
          // The first error of a page on trial explains a rollback; nothing is decided by it.
          let isTold = page === null;
          const tellError = (message, source, line, column) => {
            if (isTold) return;
            isTold = true;
            const count = (value) => value > 0 ? Math.min(value | 0, 2147483647) : 0;
            const body = JSON.stringify({
              page, message: message.slice(0, 300), source: source.split(/[?#]/)[0].replace(location.origin, "").slice(0, 200),
              line: count(line), column: count(column),
            });
            fetch("/__patchline/page-error", { method: "POST", keepalive: true, body }).catch(() => {});
          };
          const words = (error) => { try { return String(error); } catch { return "it throws"; } };
          addEventListener("error", (event) => {
            const tag = event.target;
            if (tag === window) {
              tellError(words(event.message), words(event.filename ?? ""), event.lineno, event.colno);
            } else if (tag?.tagName === "SCRIPT" && tag.src.startsWith(location.origin + "/")) {
              // A script of another origin may be missing without harm, as on a device that is offline.
              tellError("a script could not be loaded", tag.src, 0, 0);
            }
          }, true);
          addEventListener("unhandledrejection", ({ reason }) => {
            let stack = "";
            try { stack = String(reason?.stack ?? ""); } catch {}
            const [, url, line, column] = stack.match(/(https?:\\/\\/[^\\s()]+?):(\\d+):(\\d+)/) ?? [];
            tellError(words(reason), url ?? "", +line, +column);
          });
          const patchline = window.patchline = {
            launch: page,
            // What script patches may replace methods of: an object, or a class; returns it.
            expose: languageOf()?.expose ?? ((name, target) => {
              exposed.push([name, target]);
              return target;
            }),
            // This version works: it stays. Without it, it is rolled back after the startup timeout.
            async startupDidComplete() {
              const failed = languageOf()?.failed() ?? [];
              if (failed.length > 0) throw new Error("a script patch failed in this page: " + failed.join(", "));
              return (await call("confirm" + (page === null ? "" : "?page=" + page), "POST")).result;
            },
            confirm() { return this.startupDidComplete(); },
            // { app, channel, running, onTrial, current, pending, starts, sync, lastSync }
            status: () => call("status", "GET"),
            // What the operator set by name: { "cart.limit": 20, … }
            parameters: async () => (await call("parameters", "GET")).parameters,
            // [{ patchId, version, sha256, size, url, runsIn, pages }]: the script patches of the version that this page is of
            scripts: async () => (await call("scripts.json", "GET")).scripts,
            // Runs those that are not in this page yet, one after the other, in the order of the list; fails with the first
            // that does not load or throws.
            async loadScripts() {
              for (const { patchId, version, url, runsIn, pages } of await patchline.scripts()) {
                if (languageOf()?.has(patchId) || !isHere(pages)) continue;
                if (runsIn !== undefined && languageOf() === undefined) {
                  await load("/__patchline/language.js", "the language", {});
                  patchline.expose = languageOf().expose;
                  for (const [name, target] of exposed) patchline.expose(name, target);
                }
                await load(url, patchId + " " + version, runsIn === undefined ? {} : { patch: patchId, version });
              }
            },
            // Looks for a new version; what it comes to is told as events.
            checkForUpdates: async () => (await call("check", "POST")).result,
            // Starts the version that waits, if one may start in a running app, and loads the page again.
            async switchToPendingVersion() {
              await call("switch", "POST", { "X-Patchline-Switch": "1" });
              location.reload();
            },
            switchToPending() { return this.switchToPendingVersion(); },
            reload: () => location.reload(),
            // What to send to whoever can help; no secrets.
            report: () => call("report", "GET"),
            // state, checking, progress, checked, failed, ready, switched, parameters, reload
            on(name, take) {
              if (!listeners[name]) {
                listeners[name] = new Set();
                if (source) hear(name);
              }
              listeners[name].add(take);
              // The stream has begun without it: what holds now is asked for.
              if (source && name === "state")
                this.status().then(({ current, pending, sync }) => take({ current, pending, sync }), () => {});
              open();
              return () => listeners[name].delete(take);
            },
          };
          // A version that does not wait has started: <script src="/__patchline/launch.js" data-reload="never"> stays.
          if (document.currentScript?.dataset.reload !== "never") patchline.on("reload", () => location.reload());
        })();

        """
}
