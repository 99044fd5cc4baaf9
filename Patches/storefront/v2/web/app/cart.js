// What is in the cart, and what it costs. Amounts are whole cents.

const key = "storefront.cart";

/** The cart as [{ id, quantity }], kept between visits. */
export class Cart {
  #lines = [];
  #onChange;

  constructor(onChange) {
    this.#onChange = onChange;
    try {
      const saved = JSON.parse(localStorage.getItem(key) ?? "[]");
      if (Array.isArray(saved)) this.#lines = saved.filter((line) => line.id && line.quantity > 0);
    } catch {
      // A cart that cannot be read is an empty cart.
    }
  }

  get lines() {
    return this.#lines.map((line) => ({ ...line }));
  }

  get count() {
    return this.#lines.reduce((sum, line) => sum + line.quantity, 0);
  }

  add(id, quantity) {
    const line = this.#lines.find((line) => line.id === id);
    this.set(id, (line?.quantity ?? 0) + quantity);
  }

  /** Changes how many of a product there are; 0 takes it out. */
  set(id, quantity) {
    const wanted = Math.max(0, Math.min(99, quantity));
    const line = this.#lines.find((line) => line.id === id);
    if (line) line.quantity = wanted;
    else this.#lines.push({ id, quantity: wanted });
    this.#lines = this.#lines.filter((line) => line.quantity > 0);
    localStorage.setItem(key, JSON.stringify(this.#lines));
    this.#onChange();
  }
}

/**
 * What the lines [{ product, quantity }] cost: { goods, discount, shipping, total }.
 *
 * The discount is rounded for each piece, so three tumblers come out a cent off, and free shipping
 * looks at the goods before the discount: the patch fix-cart-total replaces it.
 */
export function total(lines, { shipping, multibuy }) {
  let goods = 0;
  let discount = 0;
  for (const { product, quantity } of lines) {
    goods += product.price * quantity;
    if (product.kind === multibuy.kind && quantity >= multibuy.from) {
      discount += Math.round((product.price * multibuy.percent) / 100) * quantity;
    }
  }
  const postage = goods === 0 || goods >= shipping.freeFrom ? 0 : shipping.price;
  return { goods, discount, shipping: postage, total: goods - discount + postage };
}
//# sourceMappingURL=cart.js.map
