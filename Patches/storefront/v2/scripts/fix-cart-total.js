// fix-cart-total, version 2
//
// Three tumblers with the multi-buy discount came out a cent wrong: the discount was rounded for
// each piece. It is now rounded once for each line. Amounts are whole cents.
//
// New in version 2: free shipping looks at what is paid, after the discount.

"use strict";

defineClass("Cart", {
  total: function (lines, offers) {
    var goods = 0;
    var discount = 0;
    lines.forEach(function (line) {
      var amount = line.product.price * line.quantity;
      goods += amount;
      if (line.product.kind === offers.multibuy.kind && line.quantity >= offers.multibuy.from) {
        discount += Math.round((amount * offers.multibuy.percent) / 100);
      }
    });
    var paid = goods - discount;
    var shipping = goods === 0 || paid >= offers.shipping.freeFrom ? 0 : offers.shipping.price;
    return { goods: goods, discount: discount, shipping: shipping, total: paid + shipping };
  },
});
