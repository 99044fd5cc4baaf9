// VasSonic's own servers beside `patchsrv pages`: for the same pages and requests, the same answers.
//
// usage: node Tests/VasSonic/run.mjs CHECKOUT PATCHSRV     a working copy of Tencent/VasSonic; php on the path for the other half
//
// 300 pages that are made here, and the page of VasSonic's own tests: the tags of each, and for a client with another state of its
// data the template and the page that come of the answer. Where PHP knows another name for a block (`{}`), or takes every title out,
// its tags are compared on the pages on which both of VasSonic's servers agree.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [checkout, patchsrv] = process.argv.slice(2);
console.info = () => {};
const differ = createRequire(import.meta.url)(resolve(checkout, 'sonic-nodejs/common/diff.js'));
const work = mkdtempSync(join(tmpdir(), 'vassonic-'));
const sha1 = bytes => createHash('sha1').update(bytes).digest('hex');

// ---- The pages.

let state = 22;
const random = below => (state = (state * 1103515245 + 12345) % 2147483648) % below;
const pick = list => list[random(list.length)];

function page(number) {
  const names = ['a', 'news', 'data1', 'Top_3', ...(number % 4 ? [] : [''])];
  const texts = ['text', '中文 ümlaut', ...(number % 3 ? [] : ['{a}']), '{', '}', '<p class="x">b</p>\n', '$1 $& $$', '"quoted" \\ and / more', '\u2028', '\t\r\n'];
  const used = new Set();
  let html = `<html><head>${pick(['<title>T</title>', '<TITLE>T $&</TITLE>', '', '<title>T</title>', '<title>\nT</title>'])}</head><body>${number}`;
  for (let piece = 0; piece < 3 + random(12); piece += 1) {
    const name = pick(names);
    const isOnce = random(4) > 0;
    if (random(3) > 0 && !(isOnce && used.has(name))) {
      used.add(name);
      const [begin, end] = name ? [`<!--sonicdiff-${name}-->`, `<!--sonicdiff-${name}-end-->`] : ['<!--sonicdiff-->', '<!--sonicdiff-end-->'];
      html += begin + pick(texts) + number + (random(12) ? end : '');
    } else {
      html += pick(texts);
    }
  }
  return html + '</body></html>';
}

const java = readFileSync(join(checkout, 'sonic-android/sdk/src/androidTest/java/com/tencent/sonic/sdk/SonicTestData.java'), 'utf8');
const literal = java.slice(java.indexOf('String htmlString ='), java.indexOf('String templateString ='));
const own = [...literal.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(match => JSON.parse(`"${match[1].replaceAll("\\'", "'")}"`)).join('');
const pages = [own, ...Array.from({ length: 300 }, (_, number) => page(number))];
pages.forEach((text, number) => writeFileSync(join(work, `${number}.html`), text));

// ---- Three servers of them.

const site = createServer((request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/html' }).end(pages[Number(request.url.slice(1))]);
});
await new Promise(ready => site.listen(0, '127.0.0.1', ready));

function started(command, args, line) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  return new Promise((ready, failed) => {
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', piece => {
        text += piece;
        const found = line.exec(text);
        if (found) ready([child, found[1]]);
      });
    }
    child.on('error', failed);
    child.on('exit', code => failed(new Error(`${command} ended with ${code}: ${text}`)));
  });
}

const [ours, address] = await started(patchsrv, ['pages', '--upstream', `http://127.0.0.1:${site.address().port}`, '--port', '0'],
  /listening on (http:\S+)/);
writeFileSync(join(work, 'router.php'), `<?php require ${JSON.stringify(resolve(checkout, 'sonic-php/sample/util/sonic.php'))};
util_sonic::start(); readfile(__DIR__ . $_SERVER['REQUEST_URI'] . '.html'); util_sonic::end();`);
const [php, phpPort] = await started('php', ['-S', '127.0.0.1:0', join(work, 'router.php')], /\(http:\/\/127\.0\.0\.1:(\d+)\) started/)
  .catch(error => { console.error(`without PHP: ${error.message}`); return [null, null]; });

async function asked(base, number, tags) {
  const headers = { 'accept-diff': 'true', ...tags };
  const response = await fetch(`${base}/${number}`, { headers });
  const body = await response.text();
  const field = name => response.headers.get(name);
  return { status: response.status, etag: field('etag'), template: field('template-tag'), change: field('template-change'), body };
}

function theirs(number, tags) {
  const sent = {}, context = { status: 200, get: name => tags[Object.keys(tags).find(key => key.toLowerCase() === name)] ?? '', set: (name, value) => { sent[name.toLowerCase()] = String(value); } };
  const { data } = differ(context, Buffer.from(pages[number]), {});
  return { status: context.status, etag: sent.etag, template: sent['template-tag'], change: sent['template-change'], body: (data ?? '').toString() };
}

// As its clients do: one name after the other, wherever it stands.
const rebuilt = (template, data, order) => order(Object.entries(data)).reduce((html, [name, text]) => html.split(name).join(text), template);

// ---- The comparison.

const count = { pages: 0, marked: 0, tags: 0, data: 0, refused: 0, theirsWrong: 0, php: 0, phpTags: 0 };
const wrong = [];
const same = (what, number, a, b) => { if (a !== b) wrong.push(`${what} of page ${number}: ${a} and ${b}`); return a === b; };
for (const number of pages.keys()) {
  count.pages += 1;
  const stale = { 'If-None-Match': sha1('older') };
  const [first, oracle] = [await asked(address, number, stale), theirs(number, stale)];
  if (oracle.change === 'true' && !/<!--sonicdiff-?\w*-->[\s\S]+?<!--sonicdiff-?\w*-end-->/i.test(pages[number].replace(/<title(.*?)<\/title>/i, ''))) {
    if (first.template !== null) wrong.push(`page ${number} has no block, and was not passed`);
    continue;
  }
  count.marked += 1;
  if (same('etag', number, first.etag, oracle.etag) && same('template-tag', number, first.template, oracle.template)) count.tags += 1;
  same('the page', number, first.body, oracle.body);
  const unchanged = { 'If-None-Match': oracle.etag, 'template-tag': oracle.template };
  same('status', number, (await asked(address, number, unchanged)).status, theirs(number, unchanged).status);

  const older = { ...stale, 'template-tag': oracle.template };
  const [data, theirData] = [await asked(address, number, older), theirs(number, older)];
  const { data: blocks } = JSON.parse(theirData.body);
  const html = pages[number];
  let unnamed = 0;
  const template = html.replace(/<title(.*?)<\/title>/i, () => '{title}')
    .replace(/<!--sonicdiff-?(\w*)-->([\s\S]+?)<!--sonicdiff-?(\w*)-end-->/ig, (_, name) => `{${name || `auto${unnamed++}`}}`);
  const orders = [list => list, list => list.toReversed(), list => list.toSorted(), list => list.toSorted().toReversed()];
  const isSafe = orders.every(order => rebuilt(template, blocks, order) === html);
  if (!isSafe) count.theirsWrong += 1;
  if (data.change === 'false') {
    count.data += 1;
    if (!isSafe) wrong.push(`data of page ${number}, of which a client makes another page`);
    const ourBlocks = JSON.parse(data.body).data;
    const sorted = value => JSON.stringify(Object.entries(value).toSorted());
    same('data', number, sorted(ourBlocks), sorted(blocks));
  } else {
    count.refused += 1;
    // Two blocks of one name with the same text would do.
    const names = [...html.matchAll(/<!--sonicdiff-(\w+)-->/gi)].map(match => match[1]);
    if (isSafe && !html.includes('{a}') && new Set(names).size === names.length) wrong.push(`no data of page ${number}, which every client rebuilds`);
  }

  if (!php) continue;
  const fromPHP = await asked(`http://127.0.0.1:${phpPort}`, number, stale);
  count.php += 1;
  same('etag (PHP)', number, fromPHP.etag, oracle.etag);
  const agrees = !/<!--sonicdiff-?-->/i.test(html) && [...html.matchAll(/<title/gi)].length < 2 && !html.includes('\r') && !html.includes('\u2028');
  if (agrees && same('template-tag (PHP)', number, fromPHP.template, first.template)) count.phpTags += 1;
}
const known = theirs(0, {});
const vector = known.etag === '78c41717b323a51e7d94a70628706b499832a0cb' && known.template === 'a48cd31a5768b4e703459583559801fcc70905a9';
if (!vector) wrong.push('the page of VasSonic\'s own tests has other tags than are known');
ours.kill();
php?.kill();
site.close();
rmSync(work, { recursive: true });
console.log(`${count.pages} pages, ${count.marked} with blocks: tags as node's ${count.tags}; data ${count.data}, the same blocks; whole ${count.refused}, ` +
  `where node sends data of which some client makes another page ${count.theirsWrong}; PHP: ${count.phpTags} tags of ${count.php} pages, the others in its own dialect`);
console.log(`the page of VasSonic's own tests: ${vector ? 'as known' : 'other tags'}`);
for (const line of wrong.slice(0, 20)) console.log(`WRONG: ${line}`);
process.exit(wrong.length ? 1 : 0);
