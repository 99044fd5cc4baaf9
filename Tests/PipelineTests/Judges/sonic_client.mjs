// A client that plays VasSonic's rules, in the words of its protocol alone: asks for one page again and again and keeps it.
//
// usage: node sonic_client.mjs URL...
//
// Each URL is a request of one session. Prints a line for each: its code (1000, 2000, 200, 304), the page's bytes on the wire, and
// the page's SHA-1 as the client has it. Fails where tags and page do not fit together.
import { createHash } from "node:crypto";
import http from "node:http";

const sha1 = (text) => createHash("sha1").update(text).digest("hex");
let kept = null;

function get(url, headers) {
    return new Promise((resolve, reject) => {
        const request = http.get(url, { headers }, (response) => {
            const pieces = [];
            response.on("data", (piece) => pieces.push(piece));
            response.on("end", () => resolve({ response, body: Buffer.concat(pieces) }));
            response.on("error", reject);
        });
        request.on("error", reject);
    });
}

function split(page) {
    const data = {};
    const template = page
        .replace(/<title(.*?)<\/title>/i, (title) => ((data["{title}"] = title), "{title}"))
        .replace(/<!--sonicdiff-?(\w*)-->[\s\S]+?<!--sonicdiff-?\w*-end-->/gi, (block, name) => {
            data[`{${name}}`] = block;
            return `{${name}}`;
        });
    return { template, data };
}

const must = (holds, what) => {
    if (!holds) throw new Error(what);
};

for (const url of process.argv.slice(2)) {
    const headers = { "accept-diff": "true", "sonic-sdk-version": "Sonic/2.0.0" };
    if (kept) Object.assign(headers, { "If-None-Match": kept.etag, "template-tag": kept.tag });
    const { response, body } = await get(url, headers);
    const fields = response.headers;
    let code;
    if (response.statusCode === 304) {
        must(kept, "304 for nothing");
        must(body.length === 0, "304 with a body");
        code = 304;
    } else if (fields["template-change"] === "false") {
        const update = JSON.parse(body.toString());
        must(update["template-tag"] === kept.tag, "data for another template");
        let page = kept.template;
        for (const [name, text] of Object.entries(update.data)) page = page.split(name).join(text);
        must(sha1(page) === update["html-sha1"] && update["html-sha1"] === fields.etag, "data that makes another page");
        kept = { etag: fields.etag, tag: fields["template-tag"], page, template: kept.template };
        code = 200;
    } else {
        const page = body.toString();
        must(fields["template-change"] === "true", "no answer of the protocol");
        must(fields.etag === sha1(page), "an etag that is not the page's");
        const { template } = split(page);
        must(fields["template-tag"] === sha1(template), "a template-tag that is not the template's");
        code = kept ? 2000 : 1000;
        kept = { etag: fields.etag, tag: fields["template-tag"], page, template };
    }
    console.log(`${code} ${body.length} ${sha1(kept.page)} ${fields["cache-offline"]}`);
}
