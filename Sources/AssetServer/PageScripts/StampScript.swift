import PatchFormat
import PatchTrust

/// The inline script of the release stamp: it tells the device when a document is shown, and replaces a stale one.
///
/// Its text is the same in every document, so that a Content-Security-Policy can allow it by its SHA-256. The tag around it
/// carries the stamp (`data-patchline`) and the version (`data-version`); pages and `launch.js` read both under
/// `Symbol.for("patchline.page")`.
enum StampScript {
    static let text = """
        (() => {
          try {
            const page = { ...document.currentScript.dataset };
            window[Symbol.for("patchline.page")] = page;
            const body = JSON.stringify({ page: page.patchline, version: page.version, age: Math.round(performance.now()) });
            const shown = () => {
              if (document.visibilityState !== "visible" || document.prerendering) return;
              document.removeEventListener("visibilitychange", shown);
              fetch("/__patchline/shown", { method: "POST", body, keepalive: true, cache: "no-store" }).catch(() => {});
            };
            document.addEventListener("visibilitychange", shown);
            shown();
          } catch {}
        })();
        """

    static let sha256 = SHA256Digest(of: Array(text.utf8))
}
