// What the shop sells.

/** Reads the catalogue: products, shipping and the multi-buy offer. */
export async function load() {
  const response = await fetch("/data/products.json");
  if (!response.ok) throw new Error(`The catalogue answered ${response.status}.`);
  return response.json();
}

export const kinds = [
  { id: "all", name: "Everything" },
  { id: "drinking", name: "For drinking" },
  { id: "eating", name: "For eating" },
  { id: "living", name: "For living" },
];

/**
 * The products whose name holds the query.
 *
 * It wants the exact letters, capitals included: the patch fix-search replaces it.
 */
export function search(products, query) {
  return products.filter((product) => product.name.includes(query));
}
//# sourceMappingURL=catalog.js.map
