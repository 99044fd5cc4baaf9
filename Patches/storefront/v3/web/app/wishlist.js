// What a customer wants to remember, kept on the device.

import { el } from "./dom.js";

const key = "storefront.wishlist";
const wanted = new Set();

/**
 * Reads the wish list of the last visit.
 *
 * BROKEN ON PURPOSE: without a saved list `saved` is null and this throws a TypeError.
 * Somebody always had a list on the phone it was tested on.
 */
export function restore() {
  const saved = JSON.parse(localStorage.getItem(key));
  for (const id of saved.items) wanted.add(id);
}

/** A button that remembers a product. */
export function heart(product) {
  const button = el("button", {
    class: "heart", type: "button", "aria-label": `Remember ${product.name}`, "aria-pressed": String(wanted.has(product.id)),
    click: () => {
      if (!wanted.delete(product.id)) wanted.add(product.id);
      button.setAttribute("aria-pressed", String(wanted.has(product.id)));
    },
  }, el("img", { src: "/img/heart.svg", alt: "", width: 22, height: 22 }));
  return button;
}
//# sourceMappingURL=wishlist.js.map
