/// `/__patchline/page.js`: puts what has changed into a page that was shown as it was kept.
///
/// The page's own request named its visit in `Server-Timing`. The page's handler of `patchline:page` hears of it first.
enum LivePageScript {
    static let text = """
        (() => {
          const [navigation] = performance.getEntriesByType("navigation");
          const visit = navigation?.serverTiming?.find(({ name }) => name === "patchline-page")?.description;
          // Nothing keeps this page.
          if (!visit) return;
          const path = location.pathname + location.search;
          const mark = "patchline.page.reloaded:" + path;
          const wasReloaded = sessionStorage.getItem(mark) !== null;
          sessionStorage.removeItem(mark);
          const reload = () => {
            // Once: a page that changes each time is not loaded for ever.
            if (wasReloaded) return;
            sessionStorage.setItem(mark, "1");
            location.reload();
          };
          const isMark = (node, word) => node.nodeType === Node.COMMENT_NODE && word.test(node.data);
          const marks = (word) => {
            const found = [];
            const walker = document.createTreeWalker(document, NodeFilter.SHOW_COMMENT);
            while (walker.nextNode()) if (isMark(walker.currentNode, word)) found.push(walker.currentNode);
            return found;
          };
          // Where a block begins and ends; null where the two do not stand side by side.
          const place = (name) => {
            const [first] = marks(new RegExp("^sonicdiff-?" + name + "$", "i"));
            if (!first) return null;
            let last = first.nextSibling;
            while (last && !isMark(last, /^sonicdiff-?\\w*-end$/i)) last = last.nextSibling;
            return last ? { first, last } : null;
          };
          // A template's content: scripts in it do not run.
          const content = (text) => {
            const template = document.createElement("template");
            template.innerHTML = text;
            return template.content;
          };
          const show = (result) => {
            const blocks = Object.entries(result).map(([key, text]) => [key.slice(1, -1), text]);
            const places = blocks.map(([name]) => name === "title" && !place(name) ? "title" : place(name));
            if (places.includes(null)) return reload();
            blocks.forEach(([, text], at) => {
              if (places[at] === "title") {
                document.title = content(text).textContent;
                return;
              }
              const range = document.createRange();
              range.setStartBefore(places[at].first);
              range.setEndAfter(places[at].last);
              range.deleteContents();
              range.insertNode(content(text));
            });
          };
          const parsed = new Promise((done) => {
            if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", done);
            else done();
          });
          const ask = async () => {
            const query = "path=" + encodeURIComponent(path) + "&visit=" + visit;
            const answer = await fetch("/__patchline/page?" + query, { cache: "no-store" });
            // It has not come yet.
            if (answer.status === 504) return ask();
            if (!answer.ok) return;
            const detail = await answer.json();
            await parsed;
            const event = new CustomEvent("patchline:page", { detail, cancelable: true });
            if (!window.dispatchEvent(event)) return;
            if (detail.extra.isReload) reload();
            else if (detail.code === 200) show(detail.result);
          };
          ask().catch(() => {});
        })();

        """
}
