document.getElementById("page").textContent = "one";
//# sourceMappingURL=main.js.map
