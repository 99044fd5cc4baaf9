"""Tries an app with a service worker in each installed browser engine: Chromium, Firefox, WebKitGTK and WPE.

usage: run.py BIN_DIR [chromium|firefox|webkitgtk|wpe …]

Version 1 runs under a worker that answers pages from its cache. Version 2 comes as an update under the open page, version 3 while the
device is stopped and the page stays open, and version 4 is broken: it must be rolled back. Prints a line for each engine and step, and
fails if a step fails. An engine that is not installed is named and left out.

sudo apt-get install chromium chromium-driver firefox-esr webkit2gtk-driver wpewebkit-driver cog xvfb xauth; pip install selenium marionette_driver
"""

import glob, importlib.util, json, os, pathlib, shutil, socket, subprocess, sys, tempfile, threading, time

APP = "com.example.engines"
WORKER = """const name = "shell-VERSION";
oninstall = (event) => event.waitUntil(caches.open(name).then((cache) => cache.add("/")));
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => {
  if (event.request.destination !== "document") return;
  event.respondWith(caches.open(name).then((cache) => cache.match("/")).then((kept) => kept || fetch(event.request)));
};
"""
PAGE = """<!doctype html><html><head><title>vVERSION</title><link rel="icon" href="data:,">
<script src="/__patchline/launch.js"></script><script>
window.heard = [];
patchline.on("ready", ({ version }) => heard.push(version));
CONFIRM
navigator.serviceWorker.register("/sw.js");
</script></head><body>vVERSION FRAMES</body></html>
"""
FRAME = '<!doctype html><html><head><script src="/__patchline/launch.js"></script></head><body>frame</body></html>\n'


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Selenium:
    def __init__(self, start):
        self.driver = start()
        self.driver.set_script_timeout(20)

    def open(self, url):
        self.driver.get(url)

    def reload(self):
        self.driver.refresh()

    def value(self, code):
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; Promise.resolve().then(() => (" + code + ")).then((value) => done(JSON.stringify(value)), (error) => done(JSON.stringify('' + error)))")

    def close(self):
        self.driver.quit()


def chromium(folder):
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage"] + (["--no-sandbox"] if os.getuid() == 0 else []):
        options.add_argument(argument)
    return Selenium(lambda: webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))))


def webkit(name, driver, arguments):
    from selenium import webdriver
    binary = glob.glob(f"/usr/lib/*/{name}-*/MiniBrowser")[0]
    if "wpe" in name:
        from selenium.webdriver.wpewebkit.options import Options
        from selenium.webdriver.wpewebkit.service import Service
        kind = webdriver.WPEWebKit
    else:
        from selenium.webdriver.webkitgtk.options import Options
        from selenium.webdriver.webkitgtk.service import Service
        kind = webdriver.WebKitGTK
    options = Options()
    options.binary_location = binary
    for argument in arguments:
        options.add_argument(argument)
    return Selenium(lambda: kind(options=options, service=Service(driver)))


class Firefox:
    def __init__(self, folder):
        from marionette_driver.marionette import Marionette
        profile = folder / "profile"
        profile.mkdir()
        port = free_port()
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        self.process = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--profile", str(profile), "--no-remote"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        self.driver = Marionette(host="127.0.0.1", port=port)
        self.driver.start_session()
        self.driver.timeout.script = 20

    def open(self, url):
        self.driver.navigate(url)

    def reload(self):
        self.driver.refresh()

    def value(self, code):
        # A promise of the page's own is not for the driver, which runs outside the page: the page leaves the value behind.
        page = ("window.engineValue = undefined; (async () => JSON.stringify(await (" + code + ")) ?? 'null')()"
                ".catch((error) => JSON.stringify('' + error)).then((value) => { window.engineValue = value; }); 0")
        self.driver.execute_script("window.wrappedJSObject.eval(arguments[0])", script_args=(page,))
        for _ in range(50):
            value = self.driver.execute_script("return window.wrappedJSObject.engineValue")
            if value is not None:
                return value
            time.sleep(0.1)
        raise RuntimeError(f"no value of {code}")

    def close(self):
        self.process.terminate()
        self.process.wait()


def engines():
    """By name: how each starts, or None if it is not installed."""
    has = lambda *names: all(shutil.which(name) for name in names)
    selenium, marionette = (importlib.util.find_spec(name) for name in ("selenium", "marionette_driver"))
    return {
        "chromium": chromium if selenium and has("chromium", "chromedriver") else None,
        "firefox": Firefox if marionette and has("firefox-esr") else None,
        "webkitgtk": (lambda folder: webkit("webkit2gtk", "/usr/bin/WebKitWebDriver", ["--automation"]))
        if selenium and has("WebKitWebDriver") and glob.glob("/usr/lib/*/webkit2gtk-*/MiniBrowser") else None,
        "wpe": (lambda folder: webkit("wpe-webkit", "/usr/bin/WPEWebDriver", ["--automation", "--headless"]))
        if selenium and has("WPEWebDriver") and glob.glob("/usr/lib/*/wpe-webkit-*/MiniBrowser") else None,
    }


class Device:
    """Releases, a server and a device in one folder."""

    def __init__(self, folder, programs):
        self.folder, self.programs, self.port, self.process = folder, programs, free_port(), None
        for name, word in (("release.pass", "a passphrase for tests"), ("online.pass", "another passphrase")):
            (folder / name).write_text(word + "\n")
            (folder / name).chmod(0o600)
        self.run("patchsign", "init", "--app", APP, "--keys", "keys", "--passphrase-file", "release.pass",
                 "--online-passphrase-file", "online.pass", "--bits", "2048")
        self.run("patchsrv", "init", "--data", "srv", "--trust", "keys", "--online-key", "keys/online.key", "--passphrase-file", "online.pass")

    def run(self, program, *arguments):
        done = subprocess.run([self.programs / program, *arguments], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{program} {arguments[0]}: {done.stdout}{done.stderr}")

    def publish(self, number, confirms=True):
        web = self.folder / "web"
        web.mkdir(exist_ok=True)
        confirm = 'addEventListener("load", () => patchline.confirm().then((word) => (window.said = word)));' if confirms else 'throw new Error("broken");'
        page = PAGE.replace("VERSION", str(number)).replace("CONFIRM", confirm).replace("FRAMES", '<iframe src="/frame.html"></iframe>' * 8)
        (web / "index.html").write_text(page)
        (web / "frame.html").write_text(FRAME)
        (web / "sw.js").write_text(WORKER.replace("VERSION", str(number)))
        (self.folder / "release.yaml").write_text(
            f"app: {APP}\nchannel: production\npatches:\n  - {{id: web, kind: bundle, version: {number}.0.0, folder: web, index: index.html}}\n")
        previous = ["--previous", f"release{number - 1}"] if number > 1 else []
        self.run("patchsign", "release", ".", *previous, "--output", f"release{number}", "--keys", "keys", "--passphrase-file", "release.pass")
        self.run("patchsrv", "publish", f"release{number}", "--data", "srv", "--passphrase-file", "online.pass")

    def serve_releases(self):
        port, operators = free_port(), free_port()
        self.server = subprocess.Popen(
            [self.programs / "patchsrv", "serve", "--data", "srv", "--port", str(port), "--operators-port", str(operators), "--passphrase-file", "online.pass"],
            cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        self.run("patchsync", "init", "--store", "device", "--root", "keys/root.json", "--server", f"http://127.0.0.1:{port}")

    def sync(self):
        self.run("patchsync", "sync", "--store", "device")

    def start(self):
        self.events = []
        self.process = subprocess.Popen(
            [self.programs / "patchsync", "serve", "--store", "device", "--port", str(self.port), "--json", "--startup-timeout", "8000"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found, lines = threading.Event(), self.process.stdout

        def read():
            for line in lines:
                event = json.loads(line)
                self.events.append(event)
                if "url" in event:
                    self.url = event["url"]
                    found.set()
        threading.Thread(target=read, daemon=True).start()
        if not found.wait(60):
            raise RuntimeError("patchsync serve printed no URL")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def heard(self, name):
        return any(event.get("event") == name for event in self.events)


def wait(what, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if what():
                return True
        except Exception:
            pass
        time.sleep(0.2)
    return False


def attempt(name, start, programs):
    failed = []
    with tempfile.TemporaryDirectory(prefix="patchline-engine.", ignore_cleanup_errors=True) as place:
        folder = pathlib.Path(place)
        device = Device(folder, programs)
        device.publish(1)
        device.serve_releases()
        browser = None

        def step(words, holds):
            print(f"{name:10} {'ok  ' if holds else 'FAIL'} {words}", flush=True)
            if not holds:
                failed.append(words)

        shows = lambda number: lambda: json.loads(browser.value(
            f"patchline.status().then((status) => document.title === 'v{number}' && status.running === '{number}.0.0' && !status.onTrial)")) is True
        try:
            device.sync()
            device.start()
            browser = start(folder)
            browser.open(device.url)
            step("version 1 is confirmed", wait(shows(1)))
            controlled = wait(lambda: json.loads(browser.value("!!navigator.serviceWorker.controller")) is True)
            browser.reload()
            step("its worker answers", controlled and wait(shows(1)))
            device.publish(2)
            browser.value("patchline.checkForUpdates()")
            step("an update is heard of", wait(lambda: json.loads(browser.value("heard.includes('2.0.0')")) is True))
            browser.value("void patchline.switchToPending()")
            step("version 2 replaces the worker's copy", wait(shows(2)))
            device.stop()
            device.publish(3)
            device.sync()
            device.start()
            step("version 3 comes to the page that outlived the server", wait(shows(3)))
            device.publish(4, confirms=False)
            browser.value("patchline.checkForUpdates()")
            wait(lambda: json.loads(browser.value("heard.includes('4.0.0')")) is True)
            browser.value("void patchline.switchToPending()")
            step("broken version 4 is rolled back", wait(lambda: device.heard("rolledBack")) and wait(shows(3)))
        finally:
            if browser:
                browser.close()
            if device.process:
                device.process.kill()
            device.server.kill()
    return failed


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    found = engines()
    wanted = sys.argv[2:] or list(found)
    failed = False
    for name in wanted:
        if found[name] is None:
            print(f"{name:10} is not installed", flush=True)
            failed |= bool(sys.argv[2:])
        else:
            failed |= bool(attempt(name, found[name], programs))
    sys.exit(failed)


if __name__ == "__main__":
    main()
