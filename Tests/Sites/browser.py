"""What Chromium says of both hosts, and an update with the first version's service worker installed."""
import os, re, shutil, time, urllib.parse
from playwright.sync_api import Error, sync_playwright
import versions
from asks import Difference

PATIENCE = 15
SEE = """async () => ({
  version: Number(document.querySelector('meta[name=site-version]')?.content ?? 0), title: document.title, path: location.pathname,
  secure: isSecureContext, isolated: crossOriginIsolated, confirmation: window.confirmation ?? null, text: (document.body?.innerText ?? '').length,
  controlled: !!navigator.serviceWorker?.controller,
  workers: navigator.serviceWorker ? (await navigator.serviceWorker.getRegistrations()).map(r => [new URL(r.scope).pathname, new URL((r.active ?? r.waiting ?? r.installing).scriptURL).pathname]).sort() : [],
  paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null })"""

# What browsers offer to secure contexts alone, or to isolated pages. Each is a name, and whether it works where a look costs nothing.
APIS = """async () => {
  const works = async make => { try { return (await make()) != null } catch { return false } };
  return {
    'service workers': await works(() => navigator.serviceWorker), 'Cache storage': await works(async () => (await caches.open('look'), await caches.delete('look'))),
    'crypto.subtle': await works(() => crypto.subtle.digest('SHA-256', new Uint8Array(1))), 'IndexedDB': await works(() => indexedDB),
    'private files (OPFS)': await works(() => navigator.storage.getDirectory()), 'Web Locks': await works(() => navigator.locks.request('look', () => 1)),
    'clipboard': await works(() => navigator.clipboard), 'camera and microphone': await works(() => navigator.mediaDevices.getUserMedia),
    'geolocation': await works(() => navigator.geolocation), 'notifications': await works(() => Notification), 'push': await works(() => PushManager),
    'screen wake lock': await works(() => navigator.wakeLock), 'passkeys (WebAuthn)': await works(() => PublicKeyCredential),
    'WebUSB': await works(() => navigator.usb), 'Web Serial': await works(() => navigator.serial), 'WebHID': await works(() => navigator.hid),
    'Web Bluetooth': await works(() => navigator.bluetooth), 'Web MIDI': await works(() => navigator.requestMIDIAccess), 'WebGPU': await works(() => navigator.gpu),
    'file pickers': await works(() => showOpenFilePicker), 'payments': await works(() => PaymentRequest), 'WebTransport': await works(() => WebTransport),
    'shared memory (SharedArrayBuffer)': await works(() => SharedArrayBuffer),
  } }"""


class Tab:
    """A page of a profile of its own, and what its consoles and requests say."""

    def __init__(self, playwright, profile):
        self.context = playwright.chromium.launch_persistent_context(
            profile, executable_path="/usr/bin/chromium", headless=True, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        self.page = self.context.pages[0]
        self.console, self.requests = [], []
        self.page.on("console", lambda message: message.type == "error" and self.console.append(message.text + " at " + (message.location.get("url") or "")))
        self.page.on("pageerror", lambda error: self.console.append("uncaught " + str(error)))
        self.context.on("requestfailed", lambda request: self.requests.append((request.url, "aborted")))
        self.context.on("response", lambda response: response.status >= 400 and self.requests.append((response.url, response.status)))

    def see(self):
        """The page's state; a page that is just loading again is asked later."""
        for _ in range(40):
            try:
                return self.page.evaluate(SEE)
            except Error:
                self.page.wait_for_timeout(250)
        raise AssertionError("the page never stands still")

    def open(self, url, quiet=2500):
        try:
            self.page.goto(url, wait_until="load", timeout=60000)
        except Error as error:
            # A page may lead elsewhere before it has loaded.
            if "interrupted" not in str(error) and "ERR_ABORTED" not in str(error):
                raise
        self.page.wait_for_timeout(quiet)
        return self.see()

    def await_version(self, version):
        end = time.monotonic() + PATIENCE
        while True:
            state = self.see()
            if state["version"] == version or time.monotonic() > end:
                return state, round(PATIENCE - (end - time.monotonic()), 1)
            self.page.wait_for_timeout(250)


def plain(text, origin):
    """Without what differs by host, by run or by the page's own clock."""
    for name in (origin, urllib.parse.urlsplit(origin).netloc, origin.replace("http:", "ws:")):
        text = text.replace(name, "HOST")
    text = re.sub(r"[?&](cdvToken|t|_|ts|session_hash)=[^ &'\"]*", "", text)
    text = re.sub(r"\s+at (HOST\S*:\d+:\d+|async |\S+ \(HOST).*", "", text, flags=re.S)
    # The body of a 404 is each host's own.
    text = re.sub(r"Unexpected token .*? is not valid JSON", "not JSON", text, flags=re.S)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", text)
    return re.sub(r"\(\d+:\d+\)|:\d+:\d+", "", text).strip()[:200]


def outside(url, origin):
    """Hosts of the net are not reached here: such a request fails alike on both, sooner or later."""
    return not url.startswith((origin, origin.replace("http:", "ws:")))


SAME = ("version", "title", "path", "workers", "controlled", "secure", "isolated")


def settled(tabs):
    """States of both tabs, when they are alike and stay so, or after a while."""
    before, end = None, time.monotonic() + PATIENCE
    while True:
        states = [tab.see() for tab in tabs]
        now = [{part: state[part] for part in SAME} for state in states]
        if now[0] == now[1] and now == before or time.monotonic() > end:
            return states
        before = now
        tabs[0].page.wait_for_timeout(1000)


def told(tab, url):
    """What a console says and which requests failed, without what differs by host."""
    parts = urllib.parse.urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    addresses = lambda text: re.findall(r"(?:https?|wss?)://[^\s'\"]+", text)
    return dict(console={plain(text, origin) for text in tab.console if not any(outside(one, origin) for one in addresses(text))},
                failed={f"{what} {plain(one, origin)}" for one, what in tab.requests if not outside(one, origin)})


def look(programs, url, theirs, source, work):
    """(what was seen, differences)"""
    result, found = {}, []

    def differ(label, part, got, expected):
        found.append(Difference(label, "Chromium", "/", {}, part, got, expected))
    with sync_playwright() as playwright:
        # One after the other, and the first one's load is over before the second begins: each has the machine.
        their_tab = Tab(playwright, os.path.join(work, "profile-nginx"))
        their_paint = their_tab.open(theirs + "/")["paint"]
        tab = Tab(playwright, os.path.join(work, "profile"))
        our_paint = tab.open(url)["paint"]
        our, their = settled([tab, their_tab])
        result["first_page"] = dict(device=round(our_paint or our["paint"] or 0), nginx=round(their_paint or their["paint"] or 0))
        result["worker"], result["isolated"], result["text"] = our["workers"], our["isolated"], our["text"]
        for part in SAME:
            if our[part] != their[part]:
                differ("first visit", part, our[part], their[part])
        apis = [one.page.evaluate(APIS) for one in (tab, their_tab)]
        result["apis"] = sorted(name for name, works in apis[0].items() if works)
        for name in apis[0]:
            if apis[0][name] != apis[1][name]:
                differ("first visit", "API " + name, apis[0][name], apis[1][name])
        if "cdvToken" in tab.page.url:
            differ("first visit", "address", "the token stands in it", "no token")
        if bool(our["text"]) != bool(their["text"]):
            differ("first visit", "text", our["text"], their["text"])
        ours_told, theirs_told = told(tab, url), told(their_tab, theirs)
        for part, key in (("console", "console"), ("failed request", "failed")):
            for more in sorted(ours_told[key] - theirs_told[key]):
                differ("first visit", part, more, "nothing of the kind")
            for less in sorted(theirs_told[key] - ours_told[key]):
                differ("first visit", part + " of nginx alone", "nothing of the kind", less)
        their_tab.context.close()
        update(programs, tab, source, result, differ)
        tab.context.close()
        next_launch(programs, playwright, os.path.join(work, "profile"), result, differ)
    return result, found


def events_until(programs, before, wanted, tab, seconds):
    """What the device told since it had told so many events."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not wanted & set(programs.events()[before:]):
        tab.page.wait_for_timeout(200)
    return programs.events()[before:]


def update(programs, tab, source, result, differ):
    """Version 2 under the open page, started by the page."""
    before = len(programs.events())
    versions.second(os.path.join(source, "web"))
    programs.release(source, 2)
    programs.publish(2)
    seconds, size = programs.sync()
    result["update"] = dict(bytes=size, seconds=seconds)
    result["full"] = sum(os.path.getsize(os.path.join(source, "web", name)) for name in versions.catalogue.files_of(os.path.join(source, "web")))
    tab.console.clear()
    for _ in range(20):
        try:
            if tab.page.evaluate("async () => (await patchline.status()).pending != null"):
                break
        except Error:
            pass
        tab.page.wait_for_timeout(250)
    try:
        # The call ends with the page.
        tab.page.evaluate("() => { patchline.switchToPendingVersion().catch(error => { window.confirmation = 'switch: ' + error }) }")
    except Error as error:
        differ("update", "switch", str(error)[:200], "a new page")
    tab.page.wait_for_timeout(500)
    state, spent = tab.await_version(2)
    result["update"]["shown"] = spent if state["version"] == 2 else None
    if state["version"] != 2:
        differ("update", "version on the screen", state["version"], 2)
    events = events_until(programs, before, {"confirmed", "rolledBack"}, tab, 25)
    outcome = [name for name in events if name in ("confirmed", "rolledBack")]
    if outcome != ["confirmed"]:
        differ("update", "what the device says", outcome or tab.see()["confirmation"], ["confirmed"])
    tab.page.reload()
    tab.page.wait_for_timeout(1500)
    state, _ = tab.await_version(2)
    if state["version"] != 2:
        differ("reload after the update", "version on the screen", state["version"], 2)


def next_launch(programs, playwright, profile, result, differ):
    """The server starts again; the browser keeps its profile and opens the URL."""
    port = str(urllib.parse.urlsplit(open(programs.serve_log).read().split('"url":')[1].split('"')[1].replace("\\/", "/")).port)
    programs.stop(programs.serving)
    url = programs.serve("--no-sync", port=port)
    tab = Tab(playwright, profile)
    state = tab.open(url)
    state, _ = tab.await_version(2) if state["version"] != 2 else (state, 0)
    result["next_launch"] = dict(version=state["version"], refused=sorted({plain(one, url.split("/?")[0]) for one, what in tab.requests if what == 403}))
    if state["version"] != 2:
        differ("next launch", "version on the screen", state["version"], 2)
    if result["next_launch"]["refused"]:
        differ("next launch", "requests refused with 403", result["next_launch"]["refused"][:5], [])
    if "rolledBack" in programs.events():
        differ("next launch", "what the device says", "rolledBack", "nothing")
    tab.context.close()
