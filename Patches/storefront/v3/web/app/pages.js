// One function a page: the shop in, an element out.

import { kinds } from "./catalog.js";
import { el, money } from "./dom.js";
import { heart } from "./wishlist.js";

/** The shop: `products`, `offers` (shipping, multi-buy), `cart`, and the patchable `app`. */
export const pages = { home, item, cart, about, missing };

function home(shop) {
  const wanted = { kind: "all", query: "" };
  const grid = el("div", { class: "grid" });

  const draw = () => {
    const found = (wanted.query ? shop.app.search(shop.products, wanted.query) : shop.products)
      .filter((product) => wanted.kind === "all" || product.kind === wanted.kind);
    grid.replaceChildren(...(found.length ? found.map(card) : [el("p", { class: "none" }, "Nothing like that on the shelf today.")]));
  };

  const chips = kinds.map(({ id, name }) => el("button", {
    class: "chip", type: "button", "aria-pressed": String(id === "all"),
    click: (event) => {
      wanted.kind = id;
      for (const chip of chips) chip.setAttribute("aria-pressed", String(chip === event.currentTarget));
      draw();
    },
  }, name));

  const search = el("input", {
    class: "search", type: "search", placeholder: "Search the shelf", "aria-label": "Search the shelf",
    input: (event) => { wanted.query = event.target.value.trim(); draw(); },
  });

  draw();
  return el("div", {},
    el("section", { class: "hero" },
      el("div", { class: "hero-text" },
        el("p", { class: "eyebrow" }, "Winter firing"),
        el("h1", {}, "Warm hands, full table."),
        el("p", { class: "lead" }, "New this winter: the Milk Pitcher, with the oat glaze of our mugs. Made in small batches, and gone when the shelf is empty."),
        el("a", { class: "button", href: "/item/milk-pitcher" }, "Meet the Milk Pitcher")),
      el("img", { class: "hero-image", src: "/img/hero.png", alt: "A vase, a teapot, a bowl and cups on a table in the sun", width: 1080, height: 900 })),
    el("section", { class: "shelf", "aria-label": "Products" },
      el("div", { class: "tools" }, el("div", { class: "chips" }, ...chips), search),
      grid));
}

function card(product) {
  return el("a", { class: "card", href: `/item/${product.id}` },
    picture(product),
    el("span", { class: "card-row" },
      el("span", { class: "card-name" }, product.name),
      el("span", { class: "price" }, money(product.price))),
    el("span", { class: "card-line" }, product.line));
}

function picture(product) {
  return el("span", { class: `picture tone-${product.tone}` },
    el("img", { src: product.image, alt: product.name, width: 400, height: 400 }));
}

function item(shop, id) {
  const product = shop.products.find((product) => product.id === id);
  if (!product) return missing();

  let quantity = 1;
  const said = el("p", { class: "said", role: "status" });
  const { from, percent, kind } = shop.offers.multibuy;

  return el("article", { class: "item" },
    picture(product),
    el("div", { class: "item-text" },
      el("a", { class: "back", href: "/" }, "← All pieces"),
      el("h1", {}, product.name),
      el("p", { class: "price price-large" }, money(product.price)),
      el("p", { class: "lead" }, product.text),
      el("dl", { class: "facts" },
        el("dt", {}, "Glaze"), el("dd", {}, product.glaze),
        el("dt", {}, "Size"), el("dd", {}, product.size),
        el("dt", {}, "Care"), el("dd", {}, "Dishwasher and oven safe")),
      el("div", { class: "buy" },
        stepper(product.name, 1, (value) => { quantity = value; }),
        el("button", {
          class: "button", type: "button", id: "add",
          click: () => {
            shop.cart.add(product.id, quantity);
            said.replaceChildren(`${quantity} × ${product.name} in your cart. `, el("a", { href: "/cart" }, "See the cart"));
          },
        }, "Add to cart"),
        heart(product)),
      said,
      product.kind === kind && el("p", { class: "offer" }, `Take ${from} or more and save ${percent} %.`)));
}

/** − 2 +, never below 1. */
function stepper(name, start, onChange) {
  let value = start;
  const shown = el("output", {}, String(value));
  const step = (by) => () => {
    value = Math.max(1, Math.min(99, value + by));
    shown.textContent = String(value);
    onChange(value);
  };
  return el("div", { class: "stepper" },
    el("button", { type: "button", "aria-label": `One ${name} less`, click: step(-1) }, "−"),
    shown,
    el("button", { type: "button", "aria-label": `One ${name} more`, click: step(1) }, "+"));
}

function cart(shop) {
  const lines = shop.cart.lines
    .map(({ id, quantity }) => ({ product: shop.products.find((product) => product.id === id), quantity }))
    .filter(({ product }) => product);

  if (lines.length === 0) {
    return el("section", { class: "plain" },
      el("h1", {}, "Your cart is empty"),
      el("p", { class: "lead" }, "The shelf is not."),
      el("a", { class: "button", href: "/" }, "Look around"));
  }

  const page = el("section", { class: "cart" });
  const draw = () => page.replaceWith(cart(shop));
  const sum = shop.app.cart.total(lines, shop.offers);
  const { freeFrom } = shop.offers.shipping;
  const row = (name, amount, className) => [el("dt", { class: className }, name), el("dd", { class: className }, amount)];

  page.append(
    el("h1", {}, "Your cart"),
    el("ul", { class: "lines" }, ...lines.map(({ product, quantity }) =>
      el("li", { class: "line" },
        el("a", { class: "line-picture", href: `/item/${product.id}` }, picture(product)),
        el("div", { class: "line-text" },
          el("a", { class: "card-name", href: `/item/${product.id}` }, product.name),
          el("span", { class: "card-line" }, product.glaze),
          el("button", { class: "remove", type: "button", click: () => { shop.cart.set(product.id, 0); draw(); } }, "Remove")),
        stepper(product.name, quantity, (value) => { shop.cart.set(product.id, value); draw(); }),
        el("span", { class: "price line-price" }, money(product.price * quantity))))),
    el("aside", { class: "summary" },
      el("dl", {},
        ...row("Goods", money(sum.goods)),
        ...(sum.discount ? row("Multi-buy", `−${money(sum.discount)}`, "saving") : []),
        ...row("Shipping", sum.shipping ? money(sum.shipping) : "Free"),
        ...row("Total", money(sum.total), "sum")),
      el("button", {
        class: "button", type: "button",
        click: (event) => { event.currentTarget.textContent = "A sample shop: nothing to pay"; },
      }, "Check out"),
      el("p", { class: "offer" }, `Free shipping from ${money(freeFrom)}.`)));
  return page;
}

function about() {
  return el("article", { class: "about" },
    el("img", { class: "about-image", src: "/img/workshop.png", alt: "Two shelves with vases, cups, bowls and a teapot", width: 1080, height: 684 }),
    el("div", { class: "about-text" },
      el("p", { class: "eyebrow" }, "About"),
      el("h1", {}, "One room, two wheels, one kiln."),
      el("p", {}, "Common Clay is three people in a former bakery. We throw on Mondays and Tuesdays, trim on Wednesdays, glaze on Thursdays, and open the kiln on Saturday morning, when you are welcome to look in."),
      el("p", {}, "The clay comes from a pit forty kilometres away. What cracks is ground up and used again, and what the kiln turns out in an odd colour is sold first."),
      el("p", {}, "This shop is a sample: it is what Patchline publishes, updates and rolls back in its demo.")));
}

function missing() {
  return el("section", { class: "plain" },
    el("h1", {}, "Not on this shelf"),
    el("p", { class: "lead" }, "The page you asked for does not exist, or has been sold."),
    el("a", { class: "button", href: "/" }, "Back to the shop"));
}
//# sourceMappingURL=pages.js.map
