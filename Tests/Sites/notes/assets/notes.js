import { notes } from "./store.js";
await navigator.serviceWorker.register("/sw.js");
const show = () => { document.querySelector("main").textContent = notes[location.pathname] ?? "Choose a note."; };
document.querySelector("nav").addEventListener("click", event => { event.preventDefault(); history.pushState(null, "", event.target.href); show(); });
addEventListener("popstate", show);
show();
