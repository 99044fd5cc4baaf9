"use strict";
// The stored theme applies before the first paint, so this script is not deferred.
const root = document.documentElement;
root.dataset.script = "";
const stored = (value) => {
  // A browser that blocks storage throws here. The page then follows the system.
  try {
    if (value !== undefined) localStorage.setItem("theme", value);
    return localStorage.getItem("theme") || "";
  } catch { return value || ""; }
};
const show = (theme) => {
  if (theme === "light" || theme === "dark") root.dataset.theme = theme; else delete root.dataset.theme;
};
show(stored());

addEventListener("DOMContentLoaded", () => {
  const find = (selector) => document.querySelector(selector);
  setUpTheme(find("#site-theme"));
  setUpMenu(find("#site-menu"), find("#site-navigation"));
  setUpOutline(find(".outline"));
  document.querySelectorAll(".code").forEach(addCopyButton);
  setUpSearch(find("#site-search input"), find("#site-results"));
});

function setUpTheme(button) {
  const themes = ["", "light", "dark"];
  const label = (theme) => button.setAttribute("aria-label", `Colours: ${theme || "as the system"}`);
  label(stored());
  button.addEventListener("click", () => {
    const theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
    stored(theme);
    show(theme);
    label(theme);
  });
}

function setUpMenu(button, navigation) {
  button.addEventListener("click", () => {
    const open = navigation.classList.toggle("open");
    button.setAttribute("aria-expanded", open);
    if (open) scrollTo({ top: 0, behavior: "instant" });
  });
  const current = navigation.querySelector("[aria-current]");
  // scrollIntoView would also scroll the page.
  if (current && navigation.scrollHeight > navigation.clientHeight) navigation.scrollTop = current.offsetTop - navigation.offsetTop - 120;
}

function setUpOutline(outline) {
  if (!outline) return;
  const wide = matchMedia("(min-width: 78rem)");
  const adapt = () => { outline.open = wide.matches; };
  adapt();
  wide.addEventListener("change", adapt);
  const links = [...outline.querySelectorAll("a")];
  const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  const mark = () => {
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top < 120).length;
    links.forEach((link, at) => link.classList.toggle("here", at === passed - 1));
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

const COPY = "M7 7V3h10v10h-4M3 7h10v10H3z";
const COPIED = "M4 11l4 4 8-10";

function addCopyButton(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  const show = (label, path) => {
    button.title = label;
    button.setAttribute("aria-label", label);
    button.innerHTML = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}"/></svg>`;
  };
  show("Copy", COPY);
  block.append(button);
  button.addEventListener("click", async () => {
    const code = block.querySelector("code");
    const lines = code.textContent.replace(/\n$/, "").split("\n");
    // Of a session with prompts only the commands are copied.
    const commands = lines.filter((line, at) => line.startsWith("$ ") || (at > 0 && lines[at - 1].endsWith("\\")));
    const session = lines.some((line) => line.startsWith("$ "));
    try {
      await navigator.clipboard.writeText((session ? commands.map((line) => line.replace(/^\$ /, "")) : lines).join("\n"));
      show("Copied", COPIED);
    } catch {
      // Browsers forbid it on a page without TLS. The selection is copied by hand.
      getSelection().selectAllChildren(code);
      show("Selected: press Ctrl+C", COPIED);
    }
    setTimeout(() => show("Copy", COPY), 2000);
  });
}

let loading;
// A script and not fetch(), which browsers forbid for a page that was opened from a disk.
const loadIndex = () => loading ??= new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = "search-index.js";
  script.onload = () => {
    const { pages, sections, terms, found } = self.searchIndex;
    resolve({ pages, sections, terms: terms.split(" "), found });
  };
  script.onerror = () => { loading = undefined; reject(new Error("the search index is missing")); };
  document.head.append(script);
});

// The first term that is not smaller than the word.
function lowerBound(terms, word) {
  let low = 0, high = terms.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (terms[middle] < word) low = middle + 1; else high = middle;
  }
  return low;
}

// The sections that contain a word or a longer form of it, with a weight each.
function sectionsOf(index, word) {
  const weights = new Map();
  for (let at = lowerBound(index.terms, word); at < index.terms.length && index.terms[at].startsWith(word); at++) {
    let row = 0;
    const rare = Math.log(1 + index.sections.length / index.found[at].length);
    const whole = index.terms[at] === word ? 1 : 0.5;
    for (const value of index.found[at]) {
      row += value >> 2;
      weights.set(row, Math.max(weights.get(row) || 0, whole * rare * (1 + (value & 3) / 3)));
    }
  }
  return weights;
}

function search(index, query) {
  const words = [...new Set(query.toLowerCase().match(/[a-z0-9]+(?:[-_.][a-z0-9]+)*/g) || [])];
  let total;
  for (const word of words) {
    let weights = sectionsOf(index, word);
    // "rollbacks" and "signing" also find "rollback" and "sign".
    for (const ending of [/s$/, /(?:es|ed)$/, /ing$/]) {
      if (weights.size === 0 && word.length > 4 && ending.test(word)) weights = sectionsOf(index, word.replace(ending, ""));
    }
    total = total ? new Map([...total].filter(([row]) => weights.has(row)).map(([row, weight]) => [row, weight + weights.get(row)])) : weights;
  }
  return [...total || []].map(([row, weight]) => {
    const [page, anchor, heading] = index.sections[row];
    const has = (text) => words.filter((word) => text.toLowerCase().includes(word)).length;
    return { row, weight: weight + 6 * has(index.pages[page][1]) + 4 * has(heading) + (anchor ? 0 : 1) };
  }).sort((one, other) => other.weight - one.weight || one.row - other.row);
}

function setUpSearch(input, results) {
  const [status, list] = results.children;
  const link = (index, row) => {
    const [page, anchor, heading, snippet] = index.sections[row];
    const [url, title] = index.pages[page];
    const item = document.createElement("li"), a = document.createElement("a"), name = document.createElement("b"), text = document.createElement("small");
    a.href = url + (anchor ? `#${anchor}` : "");
    name.textContent = title;
    text.textContent = snippet;
    a.append(name, heading ? ` › ${heading}` : "", text);
    item.append(a);
    return item;
  };
  const update = async () => {
    const query = input.value.trim();
    results.hidden = query.length < 2;
    if (results.hidden) return;
    try {
      const index = await loadIndex();
      // A slow load may end after more was typed.
      if (query !== input.value.trim()) return;
      const found = search(index, query);
      status.textContent = found.length === 0 ? `Nothing found for “${query}”` : `${found.length} result${found.length === 1 ? "" : "s"}`;
      list.replaceChildren(...found.slice(0, 20).map(({ row }) => link(index, row)));
    } catch (error) {
      status.textContent = `Search is not available: ${error.message}`;
      list.replaceChildren();
    }
    results.scrollTop = 0;
  };
  input.addEventListener("focus", () => { loadIndex().catch(() => {}); if (input.value) update(); });
  input.addEventListener("input", update);
  const close = () => { results.hidden = true; };
  // A result on the current page does not load a new one.
  list.addEventListener("click", close);
  addEventListener("click", (event) => { if (!event.target.closest("#site-search")) close(); });
  addEventListener("keydown", (event) => {
    const typing = event.target.matches("input, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.target.closest?.("#site-search")) {
      const links = [...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      if (event.key === "Escape") { close(); input.focus(); }
      if (event.key === "Enter" && at < 0 && links[0]) links[0].click();
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const next = at + (event.key === "ArrowDown" ? 1 : -1);
        (next < 0 ? input : links[Math.min(next, links.length - 1)])?.focus();
      }
    }
  });
}
