"""patchsign, patchsrv and patchsync for one app, and nginx beside them."""
import json, os, re, shutil, socket, subprocess, threading, time


class Failed(Exception):
    """A program that did not do its work, with what it printed."""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Programs:
    """A release, a server and a device in one folder."""

    def __init__(self, folder, work, keys=None, application="com.example.sites"):
        self.folder, self.work, self.application = folder, work, application
        self.keys = keys or os.path.join(work, "keys")
        self.running = []
        self.device = os.path.join(work, "device")
        self.passphrase = ["--passphrase-file", self.keys + ".passphrase"]
        os.makedirs(work, exist_ok=True)
        if not os.path.exists(self.keys):
            with open(self.keys + ".passphrase", "w") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write("the passphrase of a test")
            self.run("patchsign", "init", "--app", application, "--keys", self.keys, "--bits", "2048", *self.passphrase)

    def program(self, name):
        return os.path.join(self.folder, name)

    def run(self, name, *words, may_fail=False):
        done = subprocess.run([self.program(name), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode and not may_fail:
            raise Failed(f"{name} {words[0]} ended with {done.returncode}: {(done.stderr + done.stdout).strip()[-600:]}")
        return done.stdout + done.stderr

    def start(self, name, *words, log):
        with open(os.path.join(self.work, log), "w") as file:
            process = subprocess.Popen([self.program(name) if name.startswith("patch") else name, *words], stdout=file, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def stop(self, process):
        if process in self.running:
            self.running.remove(process)
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def end(self):
        for process in list(self.running):
            self.stop(process)

    def said(self, process, log, pattern, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with open(os.path.join(self.work, log)) as file:
                text = file.read()
            if match := re.search(pattern, text):
                return match
            if process.poll() is not None:
                raise Failed(f"a program ended with {process.returncode}: {text[-600:]}")
            time.sleep(0.05)
        raise Failed(f"nothing like {pattern} in {log}: {text[-600:]}")

    # The release's way.

    routing = None

    def first_release(self, source, kind):
        """Signs version 1; what patchsign takes the folder for, if it says so. If that is wrong, release.yaml says what is right."""
        said = self.release(source, 1)
        seen = re.search(r"\bis an? (site|app) \(", said)
        recognised = seen and seen.group(1)
        if recognised not in (None, kind):
            self.routing = kind
            shutil.rmtree(os.path.join(self.work, "release-1"))
            said = self.release(source, 1)
        return recognised, said

    def release(self, source, version):
        """Signs SOURCE/web as this version; what patchsign printed."""
        with open(os.path.join(source, "release.yaml"), "w") as file:
            file.write(f"app: {self.application}\nchannel: production\npatches:\n  - id: web\n    kind: bundle\n    version: \"{version}.0.0\"\n    folder: web\n")
            if self.routing:
                file.write(f"    routing: {self.routing}\n")
        output = os.path.join(self.work, f"release-{version}")
        previous = ["--previous", os.path.join(self.work, f"release-{version - 1}")] if version > 1 else []
        return self.run("patchsign", "release", source, "--keys", self.keys, "--output", output, *previous, *self.passphrase)

    def publish(self, version):
        data = os.path.join(self.work, "server")
        if version == 1:
            self.run("patchsrv", "init", "--data", data, "--trust", self.keys, "--online-key", os.path.join(self.keys, "online.key"), *self.passphrase)
        self.run("patchsrv", "publish", os.path.join(self.work, f"release-{version}"), "--data", data, "--optimize", *self.passphrase)
        if version == 1:
            self.access_log = os.path.join(self.work, "access.log")
            server = self.start("patchsrv", "serve", "--data", data, "--port", "0", "--operators-port", "0", "--access-log", self.access_log, log="patchsrv.log")
            url = self.said(server, "patchsrv.log", r"listening on (http\S+)").group(1)
            self.run("patchsync", "init", "--store", self.device, "--root", os.path.join(self.keys, "root.json"), "--server", url)

    def sync(self):
        """Seconds, and bytes of answers."""
        before, began = self.answered(), time.monotonic()
        self.run("patchsync", "sync", "--store", self.device)
        seconds = time.monotonic() - began
        # A request's line is written after its last byte, which the device may see first.
        time.sleep(0.3)
        return round(seconds, 2), self.answered() - before

    def answered(self):
        if not os.path.exists(self.access_log):
            return 0
        with open(self.access_log) as file:
            return sum(int(match.group(1)) for match in re.finditer(r'^[^"]*"[^"]*" \d+ (\d+) ', file.read(), re.M))

    def serve(self, *words, port="0"):
        """Serves the device's pages; the URL to open."""
        log = f"serve-{time.monotonic_ns()}.log"
        self.serving = self.start("patchsync", "serve", "--store", self.device, "--port", port, "--json", *words, log=log)
        self.serve_log = os.path.join(self.work, log)
        return self.said(self.serving, log, r'"url": ?"([^"]+)"').group(1).replace("\\/", "/")

    def events(self):
        """Names of what the serving device told, in order."""
        names = []
        with open(self.serve_log) as file:
            for line in file:
                try:
                    names.append(json.loads(line)["event"])
                except (ValueError, KeyError, TypeError):
                    pass
        return names


# As the Internet Assigned Numbers Authority names them.
TYPES = """
text/html html htm; text/css css; text/javascript js mjs cjs; application/json json map; application/x-ipynb+json ipynb; application/manifest+json webmanifest; application/wasm wasm;
image/svg+xml svg; image/png png; image/jpeg jpg jpeg; image/gif gif; image/webp webp; image/avif avif; image/vnd.microsoft.icon ico; text/plain txt;
application/xml xml; font/woff2 woff2; font/woff woff; font/ttf ttf; font/otf otf; application/vnd.ms-fontobject eot; application/pdf pdf;
text/markdown md; text/less less; application/zip zip; application/gzip gz; audio/mpeg mp3; video/mp4 mp4; application/atom+xml atom; application/rss+xml rss
"""
NAMED = "|".join(end for row in TYPES.split(";") for end in row.split()[1:] if end not in ("html", "htm"))
PARTS = "css|js|mjs|cjs|json|map|webmanifest|wasm|eot|svg|png|jpe?g|gif|webp|avif|ico|woff2?|ttf|otf|mp3|mp4"

# A stub, so that the page's confirmation finds a script on a host that knows none.
STUB = "location = /__patchline/launch.js { default_type text/javascript; return 200 'globalThis.patchline = { confirm: async () => {} };'; }"


def location(path, words):
    return 'location = "%s" { %s }' % (path.replace("\\", "\\\\").replace('"', '\\"'), words)


def nginx_configuration(folder, files, kind, work, port):
    """nginx as a good static host is set up: /folder redirects to /folder/, which is its index.html; gzip_static; a .gz without its plain file is its content, coded.
    A site has name.html under /name, and 404.html; an app answers navigations with its index. What is missing and no page is 404."""
    known, exact = set(files), []
    for name in files:
        if name.endswith("/index.html"):
            place = "/" + name.removesuffix("/index.html")
            if kind == "site":
                exact.append(location(place + "/index/", "return 301 $path_without_slash$is_args$args;"))
            if kind == "app" or place[1:] + ".html" not in known:
                exact.append(location(place, "return 301 $path_as_sent/$is_args$args;"))
        elif name.endswith(".html") and kind == "site" and name.removesuffix(".html") + "/index.html" not in known:
            exact.append(location("/" + name.removesuffix(".html") + "/", "return 301 $path_without_slash$is_args$args;"))
        elif name.endswith(".gz") and name.removesuffix(".gz") not in known:
            # As Unity's and Flutter's tools say to set a host up: the name is the compressed one, the content the other.
            end = name.removesuffix(".gz").rpartition(".")[2]
            kinds = [row.split()[0] for row in TYPES.split(";") if end in row.split()[1:]]
            exact.append(location("/" + name, f"types {{ }} default_type {kinds[0]}; add_header Content-Encoding gzip;") if kinds and end != "json" else "")
    unknown = "return 404;" if kind == "site" else "if ($page_wish = 0) { return 404; } rewrite ^ /index.html break;"
    own_404 = "error_page 404 /404.html;" if kind == "site" and "404.html" in known else ""
    paths = "".join(f"{one}_temp_path {work}/nginx-{one}; " for one in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    return f"""
worker_processes 1; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.log; {"user root;" if os.getuid() == 0 else ""}
events {{ worker_connections 512; }}
http {{
  access_log off; {paths} types {{ {TYPES}; }} default_type application/octet-stream; charset utf-8;
  absolute_redirect off; gzip_static on; gzip_vary on; keepalive_requests 1000000; etag on; server_names_hash_bucket_size 128;
  map $request_uri $path_as_sent {{ "~^([^?]*)" $1; }}
  map $request_uri $path_without_slash {{ "~^([^?]*)/(\\?|$)" $1; }}
  # Whether a page is wanted: what Sec-Fetch-Dest says, else Accept and the name.
  map $uri $named {{ default ""; "~*\\.({PARTS})/?$" part; "~*\\.({NAMED})/?$" file; }}
  map "$http_sec_fetch_dest|$named|$http_accept" $page_wish {{
    default 0; "~^(document|iframe|frame)\\|" 1; "~^empty\\|\\|(\\*/\\*|.*text/html|$)" 1; "~^\\|(file)?\\|.*text/html" 1; "~^\\|\\|(\\*/\\*|$)" 1;
  }}
  server {{
    listen 127.0.0.1:{port}; root {folder}; {STUB} {own_404}
    location / {{ try_files $uri {"$uri.html" if kind == "site" else ""} @unknown; }}
    location ~ /$ {{ try_files ${{uri}}index.html @unknown; }}
    location = /favicon.ico {{ try_files $uri =404; }}
    location @unknown {{ {unknown} }}
    {chr(10).join(exact)}
  }}
}}
"""


def start_nginx(programs, folder, files, kind):
    work = os.path.join(programs.work, "nginx")
    os.makedirs(work, exist_ok=True)
    port = free_port()
    with open(os.path.join(work, "nginx.conf"), "w") as file:
        file.write(nginx_configuration(folder, files, kind, work, port))
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if program is None:
        raise Failed("nginx is missing")
    process = programs.start(program, "-c", os.path.join(work, "nginx.conf"), "-e", "stderr", log="nginx.out")
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return f"http://127.0.0.1:{port}"
        except OSError:
            if process.poll() is not None:
                raise Failed("nginx ended: " + open(os.path.join(programs.work, "nginx.out")).read()[-400:])
            time.sleep(0.05)
    raise Failed("nginx does not answer")
