// A site whose pages change in a block: the server behind `patchsrv pages`.
//
// usage: node site.mjs
//
// Prints `listening on URL`. Every page counts how often it was asked for.
//   /live      a page with a block; ?template=2 with another template, ?age=N with a time for which it may be kept
//   /still     the same page each time      /unsized   a page with a block, of a length that is known at its end
//   /plain     one without markers          /text      no page
//   /twice     two blocks of one name       /odd       a page in pieces of odd sizes, chunked, compressed
//   /big       60 MB of a page              /fields    what came, as JSON
//   /hang      a head and nothing else      /cut       half of a page
//   /account   a page that sets a cookie    /moved     elsewhere on this server
import http from "node:http";
import zlib from "node:zlib";

const counts = new Map();
const filler = Array.from({ length: 150 }, (_, line) => `<p>Line ${line}: ${Math.sin(line)}</p>`).join("\n");

function live(number, template = "1") {
    return (
        `<html><head><title>Live ${template}</title></head><body>` +
        `<!--sonicdiff-count--><b id="count">${number}</b><!--sonicdiff-count-end-->\n` +
        `<!--sonicdiff-word--><i>steady</i><!--sonicdiff-word-end-->\n<hr class="${template}">${filler}</body></html>`
    );
}

async function inPieces(response, bytes) {
    for (let place = 0, size = 1; place < bytes.length; place += size, size = (size * 7) % 1009 || 1) {
        if (!response.write(bytes.subarray(place, place + size))) await new Promise((go) => response.once("drain", go));
    }
    response.end();
}

const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://site");
    const number = (counts.get(url.pathname) ?? 0) + 1;
    counts.set(url.pathname, number);
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    switch (url.pathname) {
        case "/live":
            if (url.searchParams.has("age")) {
                response.setHeader("Cache-Control", `max-age=0, stale-while-revalidate=${url.searchParams.get("age")}`);
            }
            return response.end(live(number, url.searchParams.get("template") ?? "1"));
        case "/unsized":
            response.write(live(number));
            return response.end();
        case "/still":
            return response.end(live(0));
        case "/plain":
            response.setHeader("ETag", '"own"');
            return response.end(`<p>${number}</p>`);
        case "/text":
            response.setHeader("Content-Type", "text/plain");
            return response.end("<!--sonicdiff-a-->no page<!--sonicdiff-a-end-->");
        case "/twice":
            return response.end(
                `<!--sonicdiff-a-->${number}<!--sonicdiff-a-end--><!--sonicdiff-a-->2<!--sonicdiff-a-end-->`,
            );
        case "/odd":
            response.setHeader("Content-Encoding", "gzip");
            return inPieces(response, zlib.gzipSync(live(number)));
        case "/big":
            for (let piece = 0; piece < 60; piece += 1) {
                if (!response.write("x".repeat(1_000_000))) await new Promise((go) => response.once("drain", go));
            }
            return response.end();
        case "/fields":
            response.setHeader("Content-Type", "application/json");
            return response.end(JSON.stringify(request.headers));
        case "/hang":
            response.write("<p>");
            return;
        case "/cut":
            response.setHeader("Content-Length", "1000");
            response.write("<p>half");
            return response.destroy();
        case "/account":
            response.setHeader("Set-Cookie", `session=${number}; Secure; HttpOnly`);
            response.setHeader("Access-Control-Allow-Origin", "https://other.example");
            return response.end(live(number));
        case "/moved":
            response.statusCode = 302;
            response.setHeader("Location", `http://${request.headers.host}/live`);
            return response.end();
        default:
            response.statusCode = 404;
            return response.end("nothing here");
    }
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
