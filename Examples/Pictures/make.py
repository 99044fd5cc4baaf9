"""Makes the pictures of the pages from the real programs: an animation of two terminals, and screenshots.

usage: make.py BIN_DIR        `make pictures` builds the programs first

Runs the commands of GetStarted.md as they are printed, with Chromium as the browser, and writes beside that page:
  GetStarted.svg           the terminals and the page of the device, animated
  GetStarted-First.png     the page of version 1, on a desktop and on a phone
  GetStarted-Update.png    the page of version 2
  GetStarted-Rollback.png  the page of version 3, which is broken, and the page after its rollback

Nothing depends on the time, the folder or free ports: the ports, launch tokens and the home folder are replaced by those of the
page, and the animation has times of its own. Output between two shown lines of quickstart is replaced by "…",
and the device's lines about its syncs are left out, because their order depends on chance.
"""
import html, os, pathlib, pty, re, select, shutil, signal, socket, subprocess, sys, tempfile, time
from playwright.sync_api import sync_playwright
import animation

CATALOGUE = pathlib.Path(__file__).resolve().parents[2] / "Sources/Device/Patchline/Patchline.docc"
PATIENCE = 120
PASSPHRASE = "correct horse battery staple"
DESKTOP, PHONE = dict(width=800, height=400), dict(width=390, height=520)
# The lines of quickstart that are shown.
SHOWN = r"Passphrase|Once more|signed |published |  verified |patchsrv: listening"
# Printed or not, or sooner or later than others, depending on when the device asks a server that is just restarting.
CHANCE = r"synced: |sync failed|hint: |error: "
# The texts of the page as Chromium places them.
LAYOUT = """() => {
  const texts = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    const box = range.getBoundingClientRect(), style = getComputedStyle(walk.currentNode.parentElement);
    if (!walk.currentNode.data.trim() || !box.width) continue;
    texts.push({ text: walk.currentNode.data.trim(), x: box.x, y: box.y, width: box.width, height: box.height,
      size: parseFloat(style.fontSize), weight: style.fontWeight, color: style.color });
  }
  return { texts, background: getComputedStyle(document.body).backgroundColor, width: innerWidth, height: innerHeight };
}"""


class Terminal:
    """A program in a terminal of its own. `take` gets each line that is complete."""

    def __init__(self, arguments, folder, environment, take):
        self.text, self.lines, self.take = "", [], take
        self.process, self.end = pty.fork()
        if not self.process:
            os.chdir(folder)
            os.execvpe(arguments[0], arguments, environment)

    def read(self, seconds):
        if select.select([self.end], [], [], seconds)[0]:
            try:
                self.text += os.read(self.end, 65536).decode(errors="replace").replace("\r\n", "\n")
            except OSError:
                time.sleep(seconds)
        while "\n" in self.text:
            line, self.text = self.text.split("\n", 1)
            self.lines.append(line)
            self.take(line)

    def wait(self, pattern, since=0):
        """Until a line matches that is not older than line `since`. Answers each prompt for a passphrase."""
        end = time.monotonic() + PATIENCE
        while not any(re.search(pattern, line) for line in self.lines[since:]):
            if time.monotonic() > end:
                sys.exit(f"error: no line with '{pattern}' in {PATIENCE} s:\n" + "\n".join(self.lines) + self.text)
            self.read(0.1)
            if re.search(r"(Passphrase.*|Once more): ?$", self.text):
                self.take(self.text)
                self.text = ""
                os.write(self.end, PASSPHRASE.encode() + b"\n")
                self.lines.append("")
                # The line break that the program prints after the hidden answer.
                while "\n" not in self.text:
                    self.text += os.read(self.end, 1).decode().replace("\r", "")
                self.text = ""

    def stop(self):
        """Ctrl-C, as a person presses it."""
        try:
            os.write(self.end, b"\x03")
        except OSError:
            pass
        end = time.monotonic() + 20
        while os.waitpid(self.process, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(self.process, signal.SIGKILL)
            self.read(0.1)
        os.close(self.end)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Tutorial:
    """The commands of the page in their order, and what the terminals and the browser show."""

    def __init__(self, binaries, folder, page):
        self.folder, self.page = folder, page
        self.hello = os.path.join(folder, "hello")
        self.devices, self.operators, self.device = free_ports(3)
        self.environment = {
            "PATH": f"{binaries}:{os.environ['PATH']}", "HOME": folder, "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb",
        }
        self.blocks = re.findall(r"```sh\n(.*?)```", (CATALOGUE / "GetStarted.md").read_text(), re.DOTALL)
        self.server = self.player = None
        # What is shown, in its order: (kind, text or layout).
        self.events, self.shots = [], {}
        # Whether the last line of quickstart was one that is not shown.
        self.left_out = False

    def note(self, kind, value):
        self.events.append((kind, value))

    def plain(self, line):
        """The line with the values of the page in place of those of this run."""
        for mine, theirs in [(self.folder, "/home/ann"), (f":{self.devices}", ":8080"), (f":{self.operators}", ":8081"), (f"port {self.device};", "port 12074;")]:
            line = line.replace(mine, theirs)
        return re.sub(r"\(on trial; confirm: .*\)", "(on trial; …)", line)

    def server_line(self, line):
        if re.match(SHOWN, line):
            if self.left_out:
                self.note("server", "…")
            self.note("server", self.plain(line))
        self.left_out = line and not re.match(SHOWN, line)

    def device_line(self, line):
        if line and not re.match(CHANCE, line):
            self.note("device", self.plain(line))

    def shell(self, command, pane=None):
        if pane:
            self.note(pane + " command", command)
        command = command.replace("127.0.0.1:8080", f"127.0.0.1:{self.devices}")
        done = subprocess.run(["bash", "-ec", command], cwd=self.hello if os.path.exists(self.hello) else self.folder, env=self.environment,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"error: {command}\n{done.stdout}{done.stderr}")
        for line in done.stdout.splitlines():
            self.note(pane, self.plain(line))

    def run(self, block):
        for command in self.blocks[block].strip().split("\n"):
            words = command.split()
            if words[:2] == ["patchsrv", "quickstart"]:
                self.note("server command", command)
                self.left_out = False
                ports = ["--port", str(self.devices), "--operators-port", str(self.operators)]
                self.server = Terminal(words + ports, self.hello, self.environment, self.server_line)
                self.server.wait("listening on")
            elif words[:2] == ["patchsync", "serve"]:
                self.note("device command", command)
                self.player = Terminal(words + ["--port", str(self.device)], self.hello, self.environment, self.device_line)
                self.player.wait(r"serving web 1\.0\.0 \(on trial")
            else:
                self.shell(command, "device" if block == 2 else "server")

    def update(self, block, version):
        """Ships the next version, until the page of the device shows it."""
        self.server.stop()
        self.note("server", "^C")
        self.run(block)
        self.player.wait(rf"serving web {version}")
        self.shown(version)

    def shown(self, version):
        self.page.wait_for_function("version => window.patchline?.version === version", arg=version, timeout=PATIENCE * 1000, polling=100)
        self.page.wait_for_load_state("load")

    def look(self, name):
        """Keeps what the browser shows now."""
        self.shots[name] = {}
        for kind, size in [("desktop", DESKTOP), ("phone", PHONE)]:
            self.page.set_viewport_size(size)
            self.shots[name][kind] = self.page.screenshot(animations="disabled")
        self.note("page", self.page.evaluate(LAYOUT))
        self.page.set_viewport_size(DESKTOP)

    def confirmed(self, version):
        self.page.wait_for_function(f"document.querySelector('p').textContent.includes('{version}')", timeout=PATIENCE * 1000, polling=100)

    def all(self):
        self.note("caption", "1  Sign a folder and serve it")
        subprocess.run(["bash", "-ec", self.blocks[0]], cwd=self.folder, env=self.environment, check=True)
        self.run(1)
        self.note("caption", "2  Start a device")
        self.run(2)
        self.page.goto("file://" + os.path.join(self.hello, "open.html"))
        self.shown("1.0.0")
        self.confirmed("1.0.0")
        self.look("first")
        self.player.wait(r"serving web 1\.0\.0 \(confirmed")
        self.note("caption", "3  Ship an update")
        self.update(3, "2.0.0")
        self.confirmed("2.0.0")
        self.look("update")
        self.player.wait(r"serving web 2\.0\.0 \(confirmed")
        self.note("caption", "4  Ship a broken version")
        since = len(self.player.lines)
        self.update(4, "3.0.0")
        self.look("broken")
        self.note("caption", "5  Twenty seconds later the device rolls back")
        self.player.wait("rolled back", since)
        self.player.wait(r"serving web 2\.0\.0 \(confirmed", since)
        self.shown("2.0.0")
        self.confirmed("2.0.0")
        self.look("rollback")

    def close(self):
        for one in (self.player, self.server):
            if one:
                one.stop()


def data(png):
    import base64
    return "data:image/png;base64," + base64.b64encode(png).decode()


def compose(page, pictures, path):
    """Pictures of the same height side by side, 800 pixels wide, each above its caption: [(png, size, caption)]."""
    gap, border = 16, 1
    ratio = sum(size["width"] / size["height"] for _, size, _ in pictures)
    height = (800 - gap * (len(pictures) - 1) - 2 * border * len(pictures)) / ratio
    figures = "".join(
        f'<figure><img src="{data(png)}" style="width:{size["width"] / size["height"] * height}px;height:{height}px">'
        f"<figcaption>{html.escape(caption)}</figcaption></figure>" for png, size, caption in pictures)
    page.set_viewport_size(dict(width=800, height=600))
    page.set_content(
        "<!doctype html><style>body{margin:0;background:transparent}main{width:800px;display:flex;justify-content:space-between}figure{margin:0}"
        f"img{{display:block;border:{border}px solid #8b949e;border-radius:6px}}"
        "figcaption{font:15px sans-serif;color:#768390;text-align:center;padding:8px 0 2px}</style>"
        f"<main>{figures}</main>")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    page.locator("main").screenshot(path=path, omit_background=True)


def main():
    binaries = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="patchline-pictures.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--font-render-hinting=none"])
        tutorial = Tutorial(binaries, folder, browser.new_context(viewport=DESKTOP, device_scale_factor=2, color_scheme="light").new_page())
        try:
            tutorial.all()
        finally:
            tutorial.close()
            shutil.rmtree(folder, ignore_errors=True)
        shots, board = tutorial.shots, browser.new_context(device_scale_factor=1).new_page()
        for name, file in [("first", "GetStarted-First.png"), ("update", "GetStarted-Update.png")]:
            compose(board, [(shots[name]["desktop"], DESKTOP, "desktop"), (shots[name]["phone"], PHONE, "phone")], CATALOGUE / file)
        compose(board, [(shots["broken"]["desktop"], DESKTOP, "version 3.0.0, broken"), (shots["rollback"]["desktop"], DESKTOP, "20 seconds later")],
                CATALOGUE / "GetStarted-Rollback.png")
        browser.close()
    (CATALOGUE / "GetStarted.svg").write_text(animation.svg(tutorial.events))
    for picture in sorted(CATALOGUE.glob("GetStarted*.[ps][nv]g")):
        print(f"{picture.stat().st_size:6} {picture.name}")


if __name__ == "__main__":
    main()
