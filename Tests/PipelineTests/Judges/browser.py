"""A headless Chromium that a test drives.

usage: browser.py SCREENSHOTS

Prints `listening on URL`. Each POST is one step: a JSON object of texts, with its name as `step`. The answer is a text, or 400
and why not.
  open URL TAB PROFILE   loads it in the tab of this name, new or old; tabs of one profile share cookies: the status
  run CODE TAB           the value of an expression, or of its promise
  wait CODE TAB          until it is true, over reloads too
  click ON TAB           a real click on what the selector names
  type KEY TAB           a real key
  reload TAB             as a person does it
  keep NAME TAB          SCREENSHOTS/NAME.png
  faults                 what consoles said is wrong since it was asked last, a line each
  wire                   `STATUS TARGET` of each request that left the browser since it was asked last, a line each
"""
import http.server, json, os, shutil, signal, sys, time, urllib.parse
from playwright.sync_api import Error, sync_playwright

screenshots = sys.argv[1]
patience = 30


class Tab:
    def __init__(self, profile):
        self.page = profile.new_page()
        self.page.on('console', lambda message: message.type in ('error', 'warning') and faults.append(
            f'{message.type}: {message.text} at {message.location.get("url")}'))
        self.page.on('pageerror', lambda error: faults.append(f'uncaught: {error}'))
        self.devtools = profile.new_cdp_session(self.page)
        self.devtools.on('Network.requestWillBeSent', lambda event: note(event, 0, event['request']['url']))
        self.devtools.on('Network.responseReceivedExtraInfo', lambda event: note(event, 1, event['statusCode']))
        self.devtools.send('Network.enable')

    def value(self, code):
        # The page's own security policy holds for what it evaluates itself, not for this.
        answer = self.devtools.send('Runtime.evaluate', dict(
            expression=code, awaitPromise=True, returnByValue=True, userGesture=True))
        if trouble := answer.get('exceptionDetails'):
            raise Error(trouble.get('exception', {}).get('description') or trouble['text'])
        return answer['result'].get('value')


def note(event, place, what):
    """A redirect keeps its request's id: the n-th status belongs to the n-th URL."""
    sent.setdefault(event['requestId'], ([], []))[place].append(what)


def tab(step):
    return tabs[step['tab']]


def do_open(step):
    if step['tab'] not in tabs:
        if step['profile'] not in profiles:
            profiles[step['profile']] = chromium.new_context(
                viewport=dict(width=900, height=500), permissions=['clipboard-read', 'clipboard-write'])
        tabs[step['tab']] = Tab(profiles[step['profile']])
    return tab(step).page.goto(step['url']).status


def do_run(step):
    return tab(step).value(step['code'])


def do_wait(step):
    end, seen = time.monotonic() + patience, None
    while time.monotonic() < end:
        try:
            if seen := tab(step).value(step['code']):
                return seen
        except Error as error:
            # A page that is just being replaced.
            seen = error
        tab(step).page.wait_for_timeout(20)
    raise Error(f'{step["code"]} is still {seen} after {patience} s; the page shows:\n'
                + tab(step).page.inner_text('html'))


def do_click(step):
    tab(step).page.click(step['on'])


def do_type(step):
    tab(step).page.keyboard.press(step['key'])


def do_reload(step):
    return tab(step).page.reload().status


def do_keep(step):
    tab(step).page.screenshot(path=os.path.join(screenshots, step['name'] + '.png'))


def do_faults(step):
    listen()
    text = '\n'.join(faults)
    faults.clear()
    return text


def do_wire(step):
    listen()
    lines = [(id, urllib.parse.urlsplit(url), status) for id, pairs in sent.items() for url, status in zip(*pairs)]
    sent.clear()
    return '\n'.join(f'{status} {url.path}{"?" + url.query if url.query else ""}' for _, url, status in lines)


def listen():
    """Playwright hears while it works, and only then."""
    for other in tabs.values():
        other.value('0')


class Steps(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        step = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        try:
            status, value = 200, globals()['do_' + step['step']](step)
        except Error as error:
            status, value = 400, str(error)
        text = value if isinstance(value, str) else json.dumps(value)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())


# Chromium is to be closed too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
tabs, profiles, faults, sent = {}, {}, [], {}
with sync_playwright() as playwright:
    chromium = playwright.chromium.launch(
        executable_path=shutil.which('chromium'), args=['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'])
    server = http.server.HTTPServer(('127.0.0.1', 0), Steps)
    print(f'listening on http://127.0.0.1:{server.server_address[1]}', flush=True)
    server.serve_forever()
