// Runs the specs of Meteor's own Cordova plugin, as they are, against `patchsync meteor`: `cordova.exec` is the page API here.
//
// usage: node Tests/MeteorPlugin/run.mjs CHECKOUT PATCHSYNC     a working copy of meteor/cordova-plugin-meteor-webapp
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vm from 'node:vm';

const [checkout, patchsync] = process.argv.slice(2);
const fixtures = join(checkout, 'tests/fixtures');
const work = mkdtempSync(join(tmpdir(), 'meteor-plugin-'));
const store = join(work, 'store');
const www = join(work, 'www');
cpSync(join(fixtures, 'bundled_www'), www, { recursive: true });

// ---- The server that the plugin's tests bring, for one version at a time.

const remote = { version: null, requests: [] };
const mock = createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  remote.requests.push({ path: url.pathname });
  const name = url.pathname.replace('/__cordova/', '') || 'index.html';
  const folder = join(fixtures, 'downloadable_versions', remote.version);
  let file = join(folder, name);
  if (!existsSync(file) || !statSync(file).isFile()) {
    if (url.searchParams.has('meteor_dont_serve_index')) return response.writeHead(404).end();
    file = join(folder, 'index.html');
  }
  const bytes = readFileSync(file);
  response.writeHead(200, { ETag: `"${createHash('sha1').update(bytes).digest('hex')}"`, 'Cache-Control': 'max-age=0' }).end(bytes);
});
await new Promise(ready => mock.listen(3000, ready));

// ---- The program that stands for the plugin.

let program, address;
const cookies = {};

async function start() {
  program = spawn(patchsync, ['meteor', '--store', store, '--bundle', join(www, 'application'), '--root-url', 'http://localhost:3000/',
    '--platform', 'ios', '--port', '12000', '--unsigned', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  await new Promise((ready, fail) => {
    program.stdout.on('data', data => {
      text += data;
      const line = text.split('\n').find(line => line.includes('"event":"listening"'));
      if (line) { address = JSON.parse(line).url; ready(); }
    });
    program.on('exit', () => fail(new Error(`it ended: ${text}`)));
  });
  program.removeAllListeners('exit');
  await get(address);
  listen();
}

async function stop() {
  listening?.abort();
  const ended = new Promise(over => program.on('exit', over));
  program.kill('SIGTERM');
  await ended;
}

const realFetch = fetch;
/** With the cookies that a browser keeps. */
async function get(url, options = {}) {
  for (let hops = 0; hops < 5; hops += 1) {
    const jar = Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await realFetch(url, { ...options, redirect: 'manual', headers: { ...options.headers, ...(jar && { cookie: jar }) } });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = cookie.match(/^([^=]+)=([^;]*)/);
      cookies[name] = value;
    }
    if (answer.status < 300 || answer.status > 399 || answer.status === 304) return answer;
    url = new URL(answer.headers.get('location'), url);
  }
  throw new Error('too many redirects');
}

const call = (path, method = 'POST') =>
  get(`http://localhost:12000/__patchline/${path}`, { method, headers: { 'X-Patchline-Switch': '1', Origin: 'http://localhost:12000' } });

let listening, told = {};
async function listen() {
  listening = new AbortController();
  try {
    const jar = Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await realFetch('http://localhost:12000/__patchline/events', { signal: listening.signal, headers: { cookie: jar } });
    let text = '';
    for await (const piece of answer.body) {
      text += Buffer.from(piece);
      for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
        const event = text.slice(0, end).match(/^event: (.*)$/m)?.[1];
        const data = JSON.parse(text.slice(0, end).match(/^data: (.*)$/m)?.[1] ?? 'null');
        if (event === 'ready') told.ready?.(data.version);
        if (event === 'failed') told.failed?.(data.error ?? data.message ?? JSON.stringify(data));
      }
    }
  } catch (error) { if (error.name !== 'AbortError' && !String(error).includes('terminated')) throw error; }
}

// ---- cordova.exec, call by call.

const nativeCalls = {
  startupDidComplete: async () => {
    const script = await (await call('launch.js', 'GET')).text();
    await call(`confirm?launch=${script.match(/[0-9a-f]{32}/)?.[0] ?? 'none'}`);
  },
  checkForUpdates: async () => { await call('check'); },
  onNewVersionReady: done => { told.ready = done; return later; },
  onError: done => { told.failed = done; return later; },
  switchPendingVersion: async () => {
    const answer = await call('switch');
    if (answer.status !== 200) throw (await answer.json()).error;
  },
  getAuthTokenKeyValuePair: async () => new URL(address).search.slice(1),
  // A page that is loaded anew takes what waits.
  simulatePageReload: async () => { await call('switch'); },
  simulateAppRestart: async () => { await stop(); await start(); },
  resetToInitialState: async () => { await stop(); rmSync(store, { recursive: true, force: true }); told = {}; await start(); },
  downloadedVersionExists: async (_, version) =>
    existsSync(join(store, 'versions', createHash('sha1').update(version).digest('hex'))),
  simulatePartialDownload: async (_, version) => {
    mkdirSync(store, { recursive: true });
    rmSync(join(store, 'downloading'), { recursive: true, force: true });
    cpSync(join(fixtures, 'partially_downloaded_versions', version), join(store, 'downloading'), { recursive: true });
  },
  serveVersion: async (_, version) => { remote.version = version; remote.requests = []; },
  receivedRequests: async () => remote.requests,
};
const later = Symbol('answers later');
const cordova = {
  platformId: 'ios',
  exec(success, failure, service, action, values) {
    Promise.resolve(nativeCalls[action](success, ...values)).then(
      result => { if (result !== later) success?.(result); }, error => failure?.(error));
  },
};

// ---- As much of Jasmine as the specs use.

const suites = [{ name: '', before: [], beforeAll: [], after: [] }];
const specs = [];
let current, matchers = {};
const jasmine = { addMatchers: own => Object.assign(matchers, own) };
class Pending extends Error {}
function expect(actual) {
  const judge = (name, pass, expected) => {
    current.expectations += 1;
    if (!pass) current.failures.push(`expected ${JSON.stringify(actual)} ${name} ${JSON.stringify(expected)}`);
  };
  const all = {
    toBe: expected => judge('toBe', Object.is(actual, expected), expected),
    toEqual: expected => judge('toEqual', JSON.stringify(actual) === JSON.stringify(expected), expected),
    toContain: expected => judge('toContain', actual?.includes(expected) ?? false, expected),
    toBeDefined: () => judge('toBeDefined', actual !== undefined),
  };
  for (const [name, make] of Object.entries(matchers)) {
    all[name] = expected => judge(name, make().compare(actual, expected).pass, expected);
  }
  return all;
}
const world = vm.createContext({
  console: { ...console, error: () => {} }, setTimeout, cordova, jasmine, expect, fetch: get,
  describe: (name, body) => { suites.push({ name, before: [], beforeAll: [], after: [] }); body(); suites.pop(); },
  it: (name, body) => specs.push({ name: [...suites.map(suite => suite.name), name].filter(Boolean).join(' · '), body, chain: [...suites] }),
  beforeAll: body => suites.at(-1).beforeAll.push(body),
  beforeEach: body => suites.at(-1).before.push(body),
  afterEach: body => suites.at(-1).after.push(body),
  fail: () => current.failures.push('fail() was called'),
  pending: () => { throw new Pending(); },
});
function load(path) {
  const module = { exports: {} };
  const wrapped = vm.runInContext(`(function (module, exports, require) {${readFileSync(join(checkout, path), 'utf8')}\n})`, world, { filename: path });
  wrapped.call(module.exports, module, module.exports, () => world.underscore);
  return module.exports;
}
world.underscore = { pluck: (rows, key) => rows.map(row => row[key]), difference: (left, right) => left.filter(one => !right.includes(one)), isEmpty: list => list.length === 0 };
world.WebAppLocalServer = { ...load('www/webapp_local_server.js'), ...load('tests/www/webapp_local_server_testing.js') };
world.WebAppMockRemoteServer = load('tests/www/webapp_mock_remote_server.js');
load('tests/www/tests.js').defineAutoTests();

const step = body => new Promise((done, fail) => {
  const timer = setTimeout(() => fail(new Error('no answer within 5 s')), 5000);
  const over = () => { clearTimeout(timer); done(); };
  try { if (body.length === 0) { body(); over(); } else { body(over); } } catch (error) { clearTimeout(timer); fail(error); }
});
process.on('unhandledRejection', error => current?.failures.push(String(error)));

await start();
let passed = 0;
const begun = new Set();
for (const spec of specs) {
  current = { failures: [], expectations: 0 };
  let verdict = 'ok';
  try {
    for (const suite of spec.chain) if (!begun.has(suite)) { begun.add(suite); for (const body of suite.beforeAll) await step(body); }
    for (const suite of spec.chain) for (const body of suite.before) await step(body);
    await step(spec.body);
  } catch (error) {
    if (error instanceof Pending) verdict = 'pending'; else current.failures.push(String(error));
  }
  try { for (const suite of [...spec.chain].reverse()) for (const body of suite.after) await step(body); } catch (error) { current.failures.push(String(error)); }
  if (current.failures.length > 0) verdict = 'NOT';
  if (verdict === 'ok') passed += 1;
  console.log(`${verdict}  ${spec.name}${current.failures.map(failure => `\n     ${failure}`).join('')}`);
}
console.log(`${passed} of ${specs.length} specs pass`);
await stop();
mock.close();
rmSync(work, { recursive: true, force: true });
process.exit(passed === specs.length ? 0 : 1);
