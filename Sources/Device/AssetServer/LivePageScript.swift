/// `/__patchline/page.js`: updates a page that was shown from the stored copy with the changed blocks.
///
/// The page's own request named its visit in `Server-Timing`. The page's handler of `patchline:page` receives the change first.
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
          const begins = /^sonicdiff-?(\\w*)$/i;
          const ends = /^sonicdiff-?\\w*-end$/i;
          const marks = () => {
            const found = [];
            const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_COMMENT);
            while (walker.nextNode()) if (/^sonicdiff/i.test(walker.currentNode.data)) found.push(walker.currentNode);
            return found;
          };
          // As the page is split: a block ends with the first end of any name, but one that follows at once.
          const blocks = () => {
            const found = [];
            let [open, unnamed] = [null, 0];
            for (const node of marks()) {
              if (open === null) {
                if (begins.test(node.data)) open = node;
              } else if (ends.test(node.data) && node.previousSibling !== open) {
                found.push({ name: begins.exec(open.data)[1] || "auto" + unnamed++, first: open, last: node });
                open = null;
              }
            }
            return found;
          };
          // The page was split as bytes, and marks are counted here among its comments. One that is in a script, an attribute or a
          // template, that HTML or a script moved, or that is gone would give its number to another block. So the names must be
          // those that the page was split into, in their order, and each mark must be a comment.
          const isSplitSo = (found, names) => {
            const texts = document.documentElement.outerHTML.match(/!--sonicdiff/gi) ?? [];
            return found.map(({ name }) => name).join() === names?.join() && texts.length === marks().length;
          };
          // Elements in a drawing or a formula are not HTML.
          const isWhole = ({ first, last }) =>
            first.isConnected && first.parentNode === last.parentNode
            && first.parentNode.namespaceURI === document.documentElement.namespaceURI
            && first.compareDocumentPosition(last) === Node.DOCUMENT_POSITION_FOLLOWING;
          // The page's title is the first in its bytes that is on one line: the tab's, unless another precedes it.
          const hasTitle = () => {
            const title = document.querySelector("title");
            return title?.parentNode === document.head && /^.*$/.test(title.textContent);
          };
          // A template's content: scripts in it do not run.
          const content = (text) => {
            const template = document.createElement("template");
            template.innerHTML = text;
            return template.content;
          };
          const show = ({ result, extra }, found) => {
            const changes = Object.entries(result).map(([key, text]) => {
              const places = found.filter(({ name }) => "{" + name + "}" === key);
              return { text, places, isTitle: key === "{title}" && places.length === 0 };
            });
            const isPlaced = ({ places, isTitle }) => isTitle ? hasTitle() : places.length === 1 && isWhole(places[0]);
            if (!isSplitSo(found, extra.blocks) || !changes.every(isPlaced)) return reload();
            for (const { text, places: [place], isTitle } of changes) {
              if (isTitle) {
                document.title = content(text).textContent;
                continue;
              }
              // A script may have moved it into the one before.
              if (!isWhole(place)) return reload();
              const range = document.createRange();
              range.setStartBefore(place.first);
              range.setEndAfter(place.last);
              range.deleteContents();
              range.insertNode(content(text));
            }
          };
          const once = (event) => new Promise((done) => {
            if (document.readyState === "loading") document.addEventListener(event, done, { once: true });
            else done();
          });
          // Before the page's own scripts that wait for all of it change anything.
          const found = once("readystatechange").then(blocks);
          const parsed = once("DOMContentLoaded");
          const ask = async () => {
            const query = "path=" + encodeURIComponent(path) + "&visit=" + visit;
            const answer = await fetch("/__patchline/page?" + query, { cache: "no-store" });
            // The answer is not there yet.
            if (answer.status === 504) return ask();
            if (!answer.ok) return;
            const detail = await answer.json();
            await parsed;
            const event = new CustomEvent("patchline:page", { detail, cancelable: true });
            if (!window.dispatchEvent(event)) return;
            if (detail.extra.isReload) reload();
            else if (detail.code === 200) show(detail, await found);
          };
          ask().catch(() => {});
        })();

        """
}
