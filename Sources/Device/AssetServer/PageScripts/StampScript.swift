import PatchFormat
import PatchCrypto

/// The inline script of the release stamp: it reports to the device when a document is shown, and replaces a stale one.
///
/// Its text is the same in every document, so that a Content-Security-Policy can allow it by its SHA-256. The tag around it
/// contains the stamp (`data-patchline`) and the version (`data-version`). `launch.js` and the language read both under
/// `Symbol.for("patchline.page")`. It never throws, even if the browser lacks or denies a function.
enum StampScript {
    /// The served text, short because every HTML file carries it.
    static let text = ScriptText.stripped(source)

    static let sha256 = SHA256Digest(of: Array(text.utf8))

    private static let source = """
        (() => {
          try {
            // A sandboxed frame has no origin, so it has no access either.
            if (origin === "null") return;
            const page = { ...document.currentScript.dataset };
            window[Symbol.for("patchline.page")] = page;
            try {
              // The page around this frame reports for both.
              const outer = parent !== window && parent[Symbol.for("patchline.page")];
              if (outer) return Object.assign(page, { tell: outer.tell, enter: outer.enter });
            } catch {}
            const quiet = () => {};
            // In the query of a URL that no worker has cached.
            const marker = "patchline-fresh=";
            const store = (kind, key, value) => {
              try {
                if (value === null) delete window[kind][key];
                else return value === undefined ? window[kind][key] : (window[kind][key] = value);
              } catch {}
            };
            const post = (call, body) => fetch("/__patchline/" + call, {
              method: "POST", body: JSON.stringify(body), keepalive: true,
            });

            // A service worker answered the URL of the launch, so the device has not seen the token.
            const url = new URL(location), token = url.searchParams.get("cdvToken") || undefined;
            if (token) {
              url.searchParams.delete("cdvToken");
              history.replaceState(history.state, "", url);
            }
            const key = "patchline.key";
            page.enter = async () => {
              const known = [{ token }, { key: store("localStorage", key) }];
              for (const body of known) if (body.token || body.key) if ((await post("enter", body)).ok) return true;
              return false;
            };

            // How many reloads did not replace this document, and the release that they were for.
            const mark = "patchline.reloads", reloads = () => (store("sessionStorage", mark) || "0 ").split(" ");
            const replace = async (release) => {
              const [count, last] = reloads(), tries = last === String(release) ? +count : 0, end = Date.now() + 5000;
              // After two attempts, or without the count, a reload would only repeat itself.
              if (tries > 1 || !store("sessionStorage", mark, tries + 1 + " " + release))
                return console.error("Patchline: a cache keeps this page of version " + page.version + ", which the device no longer serves.");
              // Unregistered, a worker cannot answer the reload. A push subscription would be lost, so it may update first.
              for (const worker of await navigator.serviceWorker?.getRegistrations().catch(quiet) ?? []) {
                const push = !tries && await worker.pushManager?.getSubscription().catch(quiet);
                await (push ? worker.update() : worker.unregister()).catch(quiet);
              }
              for (const name of await window.caches?.keys().catch(quiet) ?? []) {
                const cache = await caches.open(name), options = { ignoreVary: true };
                for (const { url } of await cache.keys()) {
                  if (!url.startsWith(origin + "/")) continue;
                  const headers = (await cache.match(url, options))?.headers, from = headers?.get("patchline-release");
                  const isMark = url.includes(marker);
                  if (!isMark && (from ? from === release : !/html/.test(headers?.get("content-type")))) continue;
                  // A page that registers the worker again revives it. Where it has no way to the network, an empty cache would
                  // show an error in place of the app, so the entry is replaced, if that takes no longer than a person waits.
                  const isLate = Date.now() > end, ask = url + (url.includes("?") ? "&" : "?") + marker + release;
                  const fresh = !isMark && !isLate && await fetch(ask).catch(quiet);
                  if (fresh?.ok && fresh.headers.get("patchline-release") === release) await cache.put(url, fresh);
                  else if (isMark || isLate || tries || fresh?.status === 404) await cache.delete(url, options);
                }
              }
              location.reload();
            };

            let isTold, tries = 0;
            // Reports again if `isAgain`: the page outlived a restart, or the browser kept it whole for "back".
            page.tell = async (isAgain) => {
              if (document.hidden || document.prerendering || isTold && isAgain !== true) return;
              isTold = true;
              try {
                const send = () => post("shown", {
                  page: page.patchline, version: page.version, age: Math.round(performance.now()), reloads: +reloads()[0],
                });
                let answer = await send();
                if (answer.status === 403 && await page.enter()) answer = await send();
                const { result, release, key: entry } = await answer.json();
                if (entry) store("localStorage", key, entry);
                if (result === "stale") replace(release).catch(quiet);
                else store("sessionStorage", mark, null);
              } catch {
                isTold = false;
                if (tries++ < 6) setTimeout(page.tell, 500 << tries);
              }
            };
            document.addEventListener("visibilitychange", page.tell);
            document.addEventListener("prerenderingchange", page.tell);
            addEventListener("pageshow", (event) => page.tell(event.persisted));
            if (token) page.enter().catch(quiet);
            page.tell();
          } catch {}
        })();
        """
}
