// As Workbox's navigateFallback: pages come from the cache, whatever their path; a new worker takes over at once.
const cacheName = "shell-1";
const shell = ["/", "/assets/notes.js", "/assets/store.js", "/assets/notes.css", "/icons/notes.svg"];
addEventListener("install", event => event.waitUntil(caches.open(cacheName).then(cache => cache.addAll(shell)).then(() => skipWaiting())));
addEventListener("activate", event => event.waitUntil(clients.claim()));
addEventListener("fetch", event => {
  if (event.request.mode === "navigate") {
    event.respondWith(caches.match("/").then(page => page ?? fetch(event.request)));
  } else if (shell.includes(new URL(event.request.url).pathname)) {
    event.respondWith(caches.match(event.request).then(kept => kept ?? fetch(event.request)));
  }
});
