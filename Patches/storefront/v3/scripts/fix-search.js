// fix-search, version 1
//
// "mug" found nothing, because the product is called "Morning Mug". The search now ignores
// capitals and accents, looks at the short line and the glaze too, and wants every word.

(function (app) {
  "use strict";

  function plain(text) {
    return text.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  }

  app.search = function (products, query) {
    var words = plain(query).split(/\s+/).filter(Boolean);
    return products.filter(function (product) {
      var text = plain([product.name, product.line, product.glaze].join(" "));
      return words.every(function (word) {
        return text.indexOf(word) !== -1;
      });
    });
  };
})(app);
