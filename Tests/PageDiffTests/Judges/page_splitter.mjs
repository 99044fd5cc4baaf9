// A second splitter of pages, by regular expressions: reads the pages 0, 1, 2, … of a folder and prints a line of JSON for each.
//
// usage: node page_splitter.mjs FOLDER COUNT
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const TITLE = /<title(.*?)<\/title>/i;
const BLOCK = /<!--sonicdiff-?(\w*)-->[\s\S]+?<!--sonicdiff-?\w*-end-->/gi;
const sha1 = (text) => createHash("sha1").update(text).digest("hex");

function split(page) {
    const data = new Map([["title", ""]]);
    let unnamed = 0;
    const template = page
        .replace(TITLE, (title) => (data.set("title", title), "{title}"))
        .replace(BLOCK, (block, name) => {
            const key = name || `auto${unnamed++}`;
            data.set(key, block);
            return `{${key}}`;
        });
    return { template, data };
}

// As clients do that know no better: one name after the other, wherever it stands by then.
function rebuild(template, entries) {
    return entries.reduce((page, [name, text]) => page.split(`{${name}}`).join(text), template);
}

const [folder, count] = process.argv.slice(2);
for (let number = 0; number < Number(count); number += 1) {
    const page = readFileSync(join(folder, String(number)), "utf8");
    const { template, data } = split(page);
    const entries = [...data];
    const orders = [entries, entries.toReversed(), entries.toSorted((a, b) => (a[0] < b[0] ? -1 : 1))];
    console.log(
        JSON.stringify({
            page: sha1(page),
            template: sha1(template),
            blocks: data.size - 1,
            // Whether every client comes to this page.
            rebuilt: orders.every((order) => rebuild(template, order) === page),
        }),
    );
}
