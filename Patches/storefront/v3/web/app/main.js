// Starts the shop, and tells the device that it works.

import { Cart, total } from "./cart.js";
import { load, search } from "./catalog.js";
import { pages } from "./pages.js";
import { start } from "./router.js";
import { restore } from "./wishlist.js";

// What script patches may replace; see ../../scripts. Everything else calls it through `app`.
globalThis.app = { cart: { total }, search };
window.patchline?.expose("Cart", globalThis.app.cart);

// Those that this device has run here. One that does not load, or throws, is none of the shop's: it opens all the same,
// and this version stays unconfirmed.
const patched = await (window.patchline?.loadScripts() ?? Promise.resolve()).then(() => true, (fault) => {
  console.error(fault);
  return false;
});

const view = document.getElementById("view");
const version = document.querySelector("meta[name=version]").content;
document.getElementById("version").textContent = version;

const cart = new Cart(showCount);

function showCount() {
  const badge = document.getElementById("cart-count");
  const grew = cart.count > Number(badge.textContent);
  badge.textContent = String(cart.count);
  badge.hidden = cart.count === 0;
  if (grew) badge.animate?.({ scale: ["1", "1.35", "1"] }, { duration: 260, easing: "ease-out" });
}

const catalog = await load();
const shop = { products: catalog.products, offers: catalog, cart, app: globalThis.app };

showCount();
start(({ page, argument }) => {
  view.replaceChildren(pages[page](shop, argument));
  for (const link of document.querySelectorAll(".links a")) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
});

// BROKEN ON PURPOSE, so that a demo can watch this version being rolled back: on a device
// that never had a wish list this throws, and the line below that confirms is never reached.
restore();

// The first screen stands, so this version may stay. A version that does not get here
// within the startup timer is rolled back.
if (patched) await window.patchline?.confirm();
//# sourceMappingURL=main.js.map
