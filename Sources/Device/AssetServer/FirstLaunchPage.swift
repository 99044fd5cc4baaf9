import HTTPFiles
import NIOHTTP1
import PatchFormat
import PatchCrypto

/// The page shown while no version is installed (E2): the progress of the first download, and advice if it fails.
///
/// It is one file without any other. Its status is 503, so that caches and programs do not take it for the app. It loads the app as
/// soon as that is available.
enum FirstLaunchPage {
    static let answer = FileAnswer.bytes(
        ServedBytes(
            status: .serviceUnavailable,
            bytes: bytes,
            contentType: "text/html; charset=utf-8",
            cacheControl: "no-store",
            headers: ["Content-Security-Policy": policy, "Retry-After": "5"]
        )
    )

    /// Only the script and the style of this file are allowed.
    private static let policy =
        "default-src 'none'; script-src '\(source(script))'; style-src '\(source(style))'; connect-src 'self'; "
        + "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

    private static func source(_ text: String) -> String {
        "sha256-\(Base64.text(SHA256Digest(of: Array(text.utf8)).bytes))"
    }

    private static let bytes = Array(
        """
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Getting the app ready</title>
        <style>\(style)</style>
        <main>
          <h1 id="title">Getting the app ready</h1>
          <p id="text" role="status" aria-live="polite">Connecting…</p>
          <p id="why" hidden></p>
          <div id="download">
            <progress id="progress" max="100" value="0" aria-label="Download"></progress>
            <p id="percent" aria-hidden="true">0 %</p>
          </div>
          <p id="actions" hidden>
            <button id="retry" type="button">Try again</button>
            <button id="copy" type="button">Copy report</button>
          </p>
          <textarea id="report" readonly hidden aria-label="Report"></textarea>
          <noscript>This page needs JavaScript to show how far the download is. Load it again in a minute.</noscript>
        </main>
        <script>\(script)</script>
        </html>

        """.utf8
    )

    private static let style = """
        body{margin:0;min-height:100vh;display:grid;place-items:center;font:1rem/1.5 system-ui,sans-serif}
        main{width:min(26rem,100vw - 4rem);text-align:center}h1{font-size:1.4rem}progress{width:100%;height:.75rem}
        button{font:inherit;padding:.5rem 1rem;margin:.25rem}textarea{width:100%;height:10rem;font:.8rem monospace}
        #why{font-size:.875rem;opacity:.75;overflow-wrap:anywhere}
        """

    private static let script = """
        "use strict";
        const at = (id) => document.getElementById(id);
        let shown = 0;
        const show = (percent) => {
          shown = Math.max(shown, percent);
          at("progress").value = shown;
          at("percent").textContent = shown + " %";
        };
        const say = (title, text, why) => {
          at("title").textContent = title;
          at("text").textContent = text;
          at("why").textContent = why ?? "";
          // Shows either the download or the actions.
          at("why").hidden = at("actions").hidden = why === undefined;
          at("download").hidden = why !== undefined;
        };
        const running = (text) => say("Getting the app ready", text);
        const failed = (why, text) =>
          say("The app could not be loaded", text ?? "Check the network connection, then try again.", why);
        const take = (sync) => {
          if (sync.phase === "running") { running("Downloading…"); show(sync.percent); }
          if (sync.phase === "failed") failed(sync.message);
          if (sync.phase === "idle") check();
        };
        const check = async () => {
          running("Looking for the app…");
          try {
            const answer = await fetch("/__patchline/check", { method: "POST" });
            if ((await answer.json()).result === "switchedOff")
              failed("This device is set to contact no server.", "Nothing is installed yet.");
          } catch (error) { failed(error.message); }
        };
        const source = new EventSource("/__patchline/events");
        const on = (name, body) => source.addEventListener(name, (event) => body(JSON.parse(event.data)));
        const start = () => { show(100); source.close(); location.reload(); };
        on("state", (state) => { if (state.current !== null) start(); else take(state.sync); });
        on("checking", () => running("Looking for the app…"));
        on("progress", (event) => take({ phase: "running", percent: event.percent }));
        on("failed", (event) => failed(event.message));
        on("switched", (event) => { if (event.version !== null) start(); });
        on("checked", (event) => {
          if (!event.isNew) failed("The server was reached.", "There is no version of the app for this device yet.");
        });
        source.onerror = () => { at("text").textContent = "Connecting…"; };
        at("retry").onclick = check;
        at("copy").onclick = async () => {
          const field = at("report");
          try { field.value = await (await fetch("/__patchline/report")).text(); } catch (error) { field.value = error; }
          try { await navigator.clipboard.writeText(field.value); at("copy").textContent = "Copied"; } catch {
            field.hidden = false; field.select();
          }
        };
        """
}
