// The splitter of VasSonic's node module beside ours, by the same regular expressions: a line for each page as Splitter/main.swift has it.
//
// usage: node splitter.mjs FILE…
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

function rate(bytes, work) {
  const began = process.hrtime.bigint();
  let rounds = 0, kept = 0;
  while (process.hrtime.bigint() - began < 1_000_000_000n) for (let turn = 0; turn < 16; turn += 1, rounds += 1) kept += work();
  if (!kept) throw new Error('the work was left out');
  return bytes * rounds / (Number(process.hrtime.bigint() - began) / 1e9);
}

function split(buffer) {
  const data = {};
  let unnamed = 0;
  const template = buffer.toString('utf8')
    .replace(/<title(.*?)<\/title>/i, title => (data.title = title, '{title}'))
    .replace(/<!--sonicdiff-?(\w*)-->([\s\S]+?)<!--sonicdiff-?(\w*)-end-->/ig, (block, name) => {
      name ||= `auto${unnamed++}`;
      data[name] = block;
      return `{${name}}`;
    });
  return template;
}

const sha1 = bytes => createHash('sha1').update(bytes).digest('hex');
for (const file of process.argv.slice(2)) {
  const page = readFileSync(file);
  const marks = rate(page.length, () => split(page).length);
  const tagged = rate(page.length, () => sha1(page).length + sha1(Buffer.from(split(page))).length);
  console.log(page.length, Math.round(marks / 1e6), Math.round(tagged / 1e6));
}
