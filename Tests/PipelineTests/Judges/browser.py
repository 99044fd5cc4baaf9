"""A headless Chromium that tests drive, each in its own session.

usage: browser.py SCREENSHOTS

Prints `listening on URL`. Each POST is one step: a JSON object of texts, with its name as `step` and whose it is as `session`.
The answer is a text, or 400 and why not. Steps of different sessions run beside one another.
  open URL TAB PROFILE   loads it in the tab of this name, new or old; tabs of one profile share cookies: the status
  run CODE TAB           the value of an expression, or of its promise
  wait CODE TAB          until it is true, over reloads too
  click ON TAB           a real click on what the selector names
  type KEY TAB           a real key
  reload TAB             as a person does it
  alter URL BODY TAB     from now on answers requests for this pattern of URLs with this script
  keep NAME TAB          SCREENSHOTS/NAME.png
  faults                 what the session's consoles said is wrong since it was asked last, a line each
  wire                   `STATUS TARGET` of each request of the session since it was asked last, a line each
  end                    closes the session's tabs
"""
import asyncio, http.server, json, os, shutil, signal, sys, threading, time, urllib.parse
from playwright.async_api import Error, async_playwright

screenshots = sys.argv[1]
# Seconds until a wait is taken for one without an end.
patience = 300


class Tab:
    @classmethod
    async def open(cls, profile, session):
        tab = cls()
        tab.page = await profile.new_page()
        tab.page.set_default_timeout(patience * 1000)
        # A browser asks for this one by itself where a page is left before its icon was read; no page names it.
        tab.page.on('console', lambda message: message.type in ('error', 'warning') and not (
            message.location.get('url') or '').endswith('/favicon.ico') and session.faults.append(
            f'{message.type}: {message.text} at {message.location.get("url")}'))
        tab.page.on('pageerror', lambda error: session.faults.append(f'uncaught: {error}'))
        tab.devtools = await profile.new_cdp_session(tab.page)
        tab.devtools.on('Network.requestWillBeSent', lambda event: session.note(event, 0, event['request']['url']))
        tab.devtools.on('Network.responseReceivedExtraInfo', lambda event: session.note(event, 1, event['statusCode']))
        await tab.devtools.send('Network.enable')
        return tab

    async def value(self, code):
        # The page's own security policy holds for what it evaluates itself, not for this.
        answer = await self.devtools.send('Runtime.evaluate', dict(
            expression=code, awaitPromise=True, returnByValue=True, userGesture=True))
        if trouble := answer.get('exceptionDetails'):
            raise Error(trouble.get('exception', {}).get('description') or trouble['text'])
        return answer['result'].get('value')


class Session:
    def __init__(self):
        self.tabs, self.profiles, self.faults, self.sent = {}, {}, [], {}

    def note(self, event, place, what):
        """A redirect keeps its request's id: the n-th status belongs to the n-th URL."""
        self.sent.setdefault(event['requestId'], ([], []))[place].append(what)

    def tab(self, step):
        return self.tabs[step['tab']]

    async def open(self, step):
        if step['tab'] not in self.tabs:
            if step['profile'] not in self.profiles:
                self.profiles[step['profile']] = await chromium.new_context(
                    viewport=dict(width=900, height=500), permissions=['clipboard-read', 'clipboard-write'])
            self.tabs[step['tab']] = await Tab.open(self.profiles[step['profile']], self)
        return (await self.tab(step).page.goto(step['url'])).status

    async def run(self, step):
        return await self.tab(step).value(step['code'])

    async def wait(self, step):
        end, seen = time.monotonic() + patience, None
        while time.monotonic() < end:
            try:
                if seen := await self.tab(step).value(step['code']):
                    return seen
            except Error as error:
                # A page that is just being replaced.
                seen = error
            await asyncio.sleep(0.02)
        raise Error(f'{step["code"]} is still {seen} after {patience} s; the page shows:\n'
                    + await self.tab(step).page.inner_text('html'))

    async def click(self, step):
        await self.tab(step).page.click(step['on'])

    async def type(self, step):
        await self.tab(step).page.keyboard.press(step['key'])

    async def alter(self, step):
        async def answer(route):
            await route.fulfill(body=step['body'], content_type='text/javascript')
        await self.tab(step).page.route(step['url'], answer)

    async def reload(self, step):
        return (await self.tab(step).page.reload()).status

    async def keep(self, step):
        await self.tab(step).page.screenshot(path=os.path.join(screenshots, step['name'] + '.png'))

    async def all_faults(self, _):
        await self.listen()
        text = '\n'.join(self.faults)
        self.faults.clear()
        return text

    async def wire(self, _):
        await self.listen()
        lines = [(urllib.parse.urlsplit(url), status) for pairs in self.sent.values() for url, status in zip(*pairs)]
        self.sent.clear()
        return '\n'.join(f'{status} {url.path}{"?" + url.query if url.query else ""}' for url, status in lines)

    async def listen(self):
        """What a tab told before its answer has come when the answer has."""
        for tab in self.tabs.values():
            await tab.value('0')

    async def end(self, _):
        for profile in self.profiles.values():
            await profile.close()


steps = dict(
    open=Session.open, run=Session.run, wait=Session.wait, click=Session.click, type=Session.type,
    reload=Session.reload, alter=Session.alter, keep=Session.keep, faults=Session.all_faults, wire=Session.wire, end=Session.end)
sessions = {}


async def take(step):
    session = sessions.setdefault(step['session'], Session())
    return await steps[step['step']](session, step)


class Steps(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        step = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        try:
            status, value = 200, asyncio.run_coroutine_threadsafe(take(step), loop).result()
        except Error as error:
            status, value = 400, str(error)
        text = value if isinstance(value, str) else json.dumps(value)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


async def main():
    global chromium, loop
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(
            executable_path=shutil.which('chromium'),
            args=['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'])
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Steps)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f'listening on http://127.0.0.1:{server.server_address[1]}', flush=True)
        await stop.wait()
        await chromium.close()


asyncio.run(main())
