// fix-service-total, version 1
//
// Three tumblers with the multi-buy discount came out a cent wrong: the discount was rounded for each piece. It is now rounded
// once for each line. Amounts are whole cents.

defineClass("CartController", {
  total: function () {
    var offers = self.offers();
    var goods = 0;
    var discount = 0;
    self.lines().forEach(function (line) {
      var amount = line.price * line.quantity;
      goods += amount;
      if (line.kind === offers.kind && line.quantity >= offers.from) {
        discount += Math.round((amount * offers.percent) / 100);
      }
    });
    return goods - discount + (goods === 0 || goods >= offers.freeFrom ? 0 : offers.shipping);
  },
});
