// Client-side routes over the history API.
//
// The server answers every one of them with index.html, so a deep link and a reload work too.

const routes = [
  { path: /^\/$/, page: "home" },
  { path: /^\/cart$/, page: "cart" },
  { path: /^\/item\/([^/]+)$/, page: "item" },
  { path: /^\/about$/, page: "about" },
];

/** The page that a path names, and its argument. */
export function match(path) {
  for (const { path: pattern, page } of routes) {
    const found = pattern.exec(path);
    if (found) return { page, argument: found[1] };
  }
  return { page: "missing" };
}

/** Calls `show` for the current address and after every change of it. */
export function start(show) {
  const showCurrent = () => show(match(location.pathname));

  addEventListener("popstate", showCurrent);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='/']");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || event.defaultPrevented) return;
    event.preventDefault();
    if (link.pathname !== location.pathname) history.pushState(null, "", link.pathname);
    showCurrent();
    scrollTo(0, 0);
    document.getElementById("view").focus({ preventScroll: true });
  });
  showCurrent();
}
//# sourceMappingURL=router.js.map
