// Elements from plain values. Text is always text: nothing here parses HTML.

/** Makes an element: `el("a", { href: "/" }, "Home")`. Functions become event listeners. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== false));
  return element;
}

const euro = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Cents as a price: `money(2450)` is "€24.50". */
export function money(cents) {
  return euro.format(cents / 100);
}
//# sourceMappingURL=dom.js.map
