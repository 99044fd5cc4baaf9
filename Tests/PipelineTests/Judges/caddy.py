"""Caddy with one site block on a free port of loopback: caddy.py CONFIGURATION CERTIFICATE KEY WORK

The site's name is replaced, and its certificate is the one given, for nobody outside answers here; a site that is a port alone
has no TLS. Caddy opens its port itself, so another one is looked for when somebody took it in between.
"""
import os, re, shutil, signal, socket, subprocess, sys

configuration, certificate, key, work = sys.argv[1:]
program = shutil.which("caddy")
if program is None:
    sys.exit("caddy is missing")
text = open(configuration).read()
for _ in range(16):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % probe.getsockname()[1]
    if text.startswith(":8080"):
        address = "http://" + address
        site, sites = re.subn(r"(?m)^:8080 \{", address + " {", text)
    else:
        address = "https://" + address
        site, sites = re.subn(r"(?m)^patches\.example\.com \{", "%s {\n\ttls %s %s" % (address, certificate, key), text)
    assert sites == 1, "one site is expected"
    with open(work + "/Caddyfile", "w") as file:
        file.write("{\n\tadmin off\n\tauto_https off\n}\n" + site)
    caddy = subprocess.Popen([program, "run", "--adapter", "caddyfile", "--config", work + "/Caddyfile"],
                             stderr=subprocess.PIPE, text=True, env=dict(os.environ, HOME=work, XDG_DATA_HOME=work))
    lines = []
    for line in caddy.stderr:
        lines.append(line)
        if "serving initial configuration" in line:
            break
    else:
        caddy.wait()
        if "address already in use" in "".join(lines):
            continue
        sys.exit("".join(lines))
    signal.signal(signal.SIGTERM, lambda *_: caddy.terminate())
    print("listening on " + address, flush=True)
    for line in caddy.stderr:
        print(line, end="", flush=True)
    sys.exit(0 if caddy.wait() in (0, -signal.SIGTERM) else 1)
sys.exit("no port stayed free")
