// What Meteor's client does with a server, after meteor/cordova-plugin-meteor-webapp: decisions, reuse, checks, commit.
//
// usage: node meteor_client.mjs check|reload FOLDER [ROOT_URL COMPATIBILITY]
//
// FOLDER/initial is what the app brought: program.json beside its files. FOLDER/versions holds what came since.
// Prints one object: the outcome, and every request in order.
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [verb, folder, root, compatibility] = process.argv.slice(2);
const platform = 'android';
const versions = join(folder, 'versions');
const stateFile = join(folder, 'state.json');
mkdirSync(versions, { recursive: true });
const state = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile)) : {};
const requests = [];

const path = url => url.replace(/[?#].*/, '');

function manifest(text) {
  let program;
  try { program = JSON.parse(text); } catch { throw new Error('Error parsing asset manifest'); }
  if (program.format !== undefined && program.format !== 'web-program-pre1') {
    throw new Error(`The asset manifest format is incompatible: ${program.format}`);
  }
  if (typeof program.version !== 'string') throw new Error('Asset manifest does not have a version');
  const hash = program.cordovaCompatibilityVersions?.[platform];
  if (typeof hash !== 'string') throw new Error('Asset manifest does not have a cordovaCompatibilityVersion');
  const assets = [];
  for (const row of program.manifest ?? []) {
    const members = ['url', 'path', 'type', 'hash', 'cacheable'];
    if (row.where !== 'client' || members.some(member => row[member] === undefined)) continue;
    assets.push({ file: row.path, url: path(row.url), hash: row.hash, cacheable: row.cacheable });
    if (row.sourceMap && row.sourceMapUrl) {
      assets.push({ file: row.sourceMap, url: path(row.sourceMapUrl), hash: null, cacheable: true });
    }
  }
  return { text, version: program.version, hash, assets };
}

function config(page) {
  const found = page.match(/__meteor_runtime_config__ = JSON.parse\(decodeURIComponent\("([^"]*)"\)\)/);
  if (!found) throw new Error("Couldn't load runtime config from index file");
  return JSON.parse(decodeURIComponent(found[1]));
}

const held = name => ({ place: join(versions, name), ...manifest(readFileSync(join(versions, name, 'program.json'), 'utf8')) });
const initial = { place: join(folder, 'initial'), ...manifest(readFileSync(join(folder, 'initial', 'program.json'), 'utf8')) };
const current = state.current && state.current !== initial.version ? held(state.current) : initial;

async function get(target) {
  const url = new URL(target, root);
  requests.push(url.pathname.slice(new URL(root).pathname.length) + url.search);
  const answer = await fetch(url, { redirect: 'error' });
  return { status: answer.status, tag: answer.headers.get('etag'), bytes: Buffer.from(await answer.arrayBuffer()) };
}

async function asset(one) {
  const target = one ? `__cordova${one.url}?meteor_dont_serve_index=true` : '__cordova/';
  const { status, tag, bytes } = await get(target);
  const url = one ? one.url : '/';
  if (status < 200 || status > 299) throw new Error(`Non-success status code ${status} for asset: ${url}`);
  const told = tag?.match(/"([0-9a-f]{40})"/)?.[1];
  if (one?.hash && told && told !== one.hash) throw new Error(`Hash mismatch for asset: ${url}`);
  // The plugin itself never hashes a body; a judge does.
  if (one?.hash && createHash('sha1').update(bytes).digest('hex') !== one.hash) throw new Error(`lied: ${url}`);
  return { bytes, told };
}

async function check() {
  const answer = await get('__cordova/manifest.json');
  if (answer.status < 200 || answer.status > 299) throw new Error(`Non-success status code ${answer.status} for asset manifest`);
  const next = manifest(answer.bytes.toString());
  if (next.version === current.version || next.version === state.pending) return { outcome: 'ignored', version: next.version };
  if (next.hash !== compatibility) {
    throw new Error('Skipping downloading new version because the Cordova platform version or plugin versions have changed '
      + 'and are potentially incompatible');
  }
  const done = { outcome: 'ready', version: next.version };
  if (next.version === initial.version || readdirSync(versions).includes(next.version)) {
    state.pending = next.version;
    return done;
  }
  const downloading = join(versions, 'Downloading');
  rmSync(downloading, { recursive: true, force: true });
  mkdirSync(downloading);
  writeFileSync(join(downloading, 'program.json'), next.text);
  const own = [initial, ...readdirSync(versions).filter(name => name !== 'Downloading').map(held)];
  let tagged = 0;
  for (const one of next.assets) {
    const same = own.flatMap(version => version.assets.map(other => ({ version, other })))
      .find(({ other }) => other.url === one.url && other.hash === one.hash && (other.cacheable || other.hash !== null));
    // What the app brought is used where it lies.
    if (same?.version === initial) continue;
    const file = join(downloading, one.file);
    mkdirSync(dirname(file), { recursive: true });
    if (same && existsSync(join(same.version.place, same.other.file))) {
      linkSync(join(same.version.place, same.other.file), file);
      continue;
    }
    const { bytes, told } = await asset(one);
    if (told) tagged += 1;
    writeFileSync(file, bytes);
  }
  const page = (await asset(null)).bytes;
  writeFileSync(join(downloading, 'index.html'), page);
  const [told, mine] = [config(page.toString()), config(readFileSync(join(current.place, 'index.html'), 'utf8'))];
  if (told.autoupdateVersionCordova && told.autoupdateVersionCordova !== next.version) {
    throw new Error(`Version mismatch for index page, expected: ${next.version}, actual: ${told.autoupdateVersionCordova}`);
  }
  if (!told.ROOT_URL) throw new Error('Could not find ROOT_URL in downloaded asset bundle');
  if (told.appId !== mine.appId) throw new Error('appId in downloaded asset bundle does not match current appId.');
  renameSync(downloading, join(versions, next.version));
  state.pending = next.version;
  return { ...done, tagged };
}

let result;
try {
  if (verb === 'reload') {
    if (!state.pending) throw new Error('No pending version to switch to');
    [state.current, state.pending] = [state.pending, undefined];
    result = { outcome: 'reloaded', version: state.current };
  } else {
    result = await check();
  }
} catch (error) {
  result = { outcome: 'error', message: error.message };
}
writeFileSync(stateFile, JSON.stringify(state));
console.log(JSON.stringify({ ...result, requests }));
