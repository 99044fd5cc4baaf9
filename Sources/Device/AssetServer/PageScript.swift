/// `/__patchline/launch.js`: `window.patchline`, which depends on nothing.
///
/// Its text is constant. The release stamp of the document identifies the version that the page belongs to. A hidden page has no
/// event stream, because browsers open only six connections to one server. It receives the missed events when it is shown again.
enum PageScript {
    static let text = """
        (() => {
          // The stamp of this document's release, where the device could put one in.
          const stamp = window[Symbol.for("patchline.page")], page = stamp?.patchline ?? null;
          const post = (path, body) => fetch("/__patchline/" + path, { method: "POST", body: JSON.stringify(body), cache: "no-store" });
          const kept = () => { try { return localStorage["patchline.key"]; } catch {} };
          // Opens the device to this browser again, without the launch URL.
          const enter = stamp?.enter ?? (async () => kept() !== undefined && (await post("enter", { key: kept() })).ok);
          // A service worker may answer the same URL from its cache.
          const fresh = (path) =>
            navigator.serviceWorker?.controller ? path + (path.includes("?") ? "&" : "?") + "patchline-fresh=" + Math.random() : path;
          const ask = async (path, options) => {
            const send = () => fetch("/__patchline/" + (options.method ? path : fresh(path)), { cache: "no-store", ...options });
            const answer = await send();
            return answer.status === 403 && await enter() ? send() : answer;
          };
          const call = async (path, method, headers) => {
            const answer = await ask(path, { method, headers });
            const body = await answer.json().catch(() => ({ error: `${path}: the device answered ${answer.status} without JSON` }));
            if (!answer.ok || body.error !== undefined) throw new Error(body.error ?? `${path}: ${answer.status}`);
            return body;
          };
          // The language of script patches, if the device put any into this page.
          const languageOf = () => window[Symbol.for("patchline.language")];
          // The objects that were exposed before the language was loaded.
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
          const isPinned = document.currentScript?.dataset.reload === "never";
          const listeners = {};
          // The start of the device whose events were heard, the number of its last event, and that of its last state.
          let start = "", heard = 0, stated = -1, first = null;
          // Another page may have passed on an event that this page requested, too.
          const isNew = ({ id, name }) => {
            const at = id.lastIndexOf("-"), from = id.slice(0, at), number = +id.slice(at + 1);
            if (name === "state") {
              const isOther = from !== start;
              if (!isOther && number === stated) return false;
              if (isOther) [start, heard] = [from, number];
              stated = number;
              return true;
            }
            if (from !== start || number <= heard) return false;
            heard = number;
            return true;
          };
          // After a restart the device may serve another version than this page is of, and does not know of this page.
          const compare = ({ releases }, before) => {
            if (isPinned || !Array.isArray(releases)) return;
            first ??= releases;
            if (page === null) {
              if (before !== "" && before !== start && !releases.some((release) => first.includes(release))) location.reload();
            } else if (!releases.includes(page) || before !== "" && before !== start) {
              stamp.tell?.(true);
            }
          };
          const take = (event) => {
            const before = start;
            if (!isNew(event)) return;
            if (event.name === "state") compare(event.data, before);
            for (const take of listeners[event.name] ?? []) {
              try { take(event.data); } catch (error) { reportError(error); }
            }
          };
          // Reads server-sent events (HTML, "Server-sent events") until they end. EventSource would hide the status.
          const read = async (query, signal, pass) => {
            // A service worker may hold back a stream until its end, and this one does not end.
            const control = new AbortController(), silence = setTimeout(() => { isSilent = true; control.abort(); }, 10000);
            const abort = () => control.abort();
            signal.addEventListener("abort", abort);
            try {
              const after = start ? "after=" + start + "-" + heard : "", fields = [after, query].filter(Boolean).join("&");
              const answer = await ask(fields ? "events?" + fields : "events", { signal: control.signal });
              if (!answer.ok) throw new Error("events: " + answer.status);
              const reader = answer.body.getReader(), decoder = new TextDecoder();
              for (let text = "";;) {
                const { value, done } = await reader.read();
                clearTimeout(silence);
                if (done || signal.aborted) return;
                const events = (text + decoder.decode(value, { stream: true })).split("\\n\\n");
                text = events.pop();
                for (const event of events) {
                  const [, id] = event.match(/^id: (.*)$/m) ?? [], [, name] = event.match(/^event: (.*)$/m) ?? [];
                  if (id && name) pass({ id, name, data: JSON.parse(event.match(/^data: (.*)$/m)[1]) });
                }
              }
            } finally {
              clearTimeout(silence);
              signal.removeEventListener("abort", abort);
            }
          };
          let isSilent = false;
          const poll = (signal, pass) => read("wait=0", signal, pass);
          const run = async (isPolling, signal, pass) => {
            let pause = 1;
            const passed = (event) => { pause = 1; pass(event); };
            while (!signal.aborted) {
              isPolling ||= isSilent;
              const isDone = await (isPolling ? poll(signal, passed) : read("", signal, passed)).then(() => true, () => false);
              const seconds = isPolling && isDone ? 5 : pause;
              if (!signal.aborted) await new Promise((done) => { setTimeout(done, seconds * 1000); signal.addEventListener("abort", done); });
              pause = Math.min(pause * 2, 10);
            }
          };
          // One visible page of this browser reads the stream and passes its events on to the others.
          let stop = null;
          const open = async () => {
            if (stop || document.hidden || document.readyState === "loading" || origin === "null") return;
            if (isPinned && !Object.keys(listeners).length) return;
            const control = new AbortController(), { signal } = control;
            stop = () => { control.abort(); stop = null; };
            if (!navigator.locks || !window.BroadcastChannel) return run(true, signal, take);
            const channel = new BroadcastChannel("patchline-events");
            signal.addEventListener("abort", () => channel.close());
            let early = [];
            channel.onmessage = ({ data }) => { early ? early.push(data) : take(data); };
            const drain = () => { early?.forEach(take); early = null; };
            const hold = async (lock) => {
              if (lock === null) return false;
              drain();
              await run(false, signal, (event) => {
                if (signal.aborted) return;
                channel.postMessage(event);
                take(event);
              });
              return true;
            };
            try {
              if (await navigator.locks.request("patchline-events", { ifAvailable: true }, hold)) return;
              await poll(signal, take).catch(() => {});
              drain();
              if (!signal.aborted) await navigator.locks.request("patchline-events", { signal }, hold);
            } catch {
              // Denied, as in some frames of other sites.
              if (!signal.aborted) { drain(); run(true, signal, take); }
            }
          };
          const close = () => stop?.();
          // Scripts that run before then receive the start of the stream.
          document.addEventListener("DOMContentLoaded", open);
          document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else open(); });
          // A page that is closed, or that the browser keeps for "back", leaves the stream to the others.
          addEventListener("pagehide", close);
          addEventListener("pageshow", open);
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
            // The release that this document is of; null where the device could not put a stamp in.
            release: page,
            version: stamp?.version ?? null,
            // Lets script patches replace the methods of an object or a class; returns it.
            expose: languageOf()?.expose ?? ((name, target) => {
              exposed.push([name, target]);
              return target;
            }),
            // Confirms this version. Without it, the version is rolled back after the startup timeout. It fails loudly, because
            // an unconfirmed version is rolled back.
            async startupDidComplete() {
              try {
                const failed = languageOf()?.failed() ?? [];
                if (failed.length > 0) throw new Error("a script patch failed in this page: " + failed.join(", "));
                const { result } = await call("confirm" + (page === null ? "" : "?page=" + page), "POST");
                if (result !== "confirmed" && result !== "alreadyConfirmed") throw new Error("the device answered " + result);
                isTold = true;
                return result;
              } catch (error) {
                console.error("Patchline: this version is not confirmed: " + error.message);
                throw error;
              }
            },
            confirm() { return this.startupDidComplete(); },
            // { app, channel, running, onTrial, current, pending, starts, sync, lastSync }
            status: () => call("status" + (page === null ? "" : "?page=" + page)),
            // The operator's parameters by name: { "cart.limit": 20, … }
            parameters: async () => (await call("parameters")).parameters,
            // [{ patchId, version, sha256, size, url, runsIn, pages }]: the script patches of the version that this page is of
            scripts: async () => (await call("scripts.json")).scripts,
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
            // Checks for a new version; events report the result.
            checkForUpdates: async () => (await call("check", "POST")).result,
            // Starts the pending version, if it may start in a running app, and loads the page again.
            async switchToPendingVersion() {
              await call("switch", "POST", { "X-Patchline-Switch": "1" });
              location.reload();
            },
            switchToPending() { return this.switchToPendingVersion(); },
            reload: () => location.reload(),
            // A report for support, without secrets.
            report: () => call("report"),
            // state, checking, progress, checked, failed, ready, switched, parameters, reload
            on(name, take) {
              (listeners[name] ??= new Set()).add(take);
              // The stream started before, so the current state is requested.
              if (name === "state" && start !== "")
                this.status().then(({ current, pending, sync }) => take({ current, pending, sync }), () => {});
              open();
              return () => listeners[name].delete(take);
            },
          };
          if (!isPinned) patchline.on("reload", () => location.reload());
        })();

        """
}
