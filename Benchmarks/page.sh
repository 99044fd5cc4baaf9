#!/usr/bin/env bash
# How soon a page of 300 assets is there: a headless Chromium loads the same page from `patchsync serve` and from nginx, by
# turns, each time with an empty cache. Prints the table of a page in Benchmarks.
#
# usage: Benchmarks/page.sh BIN_DIR       LOADS=20 ASSETS=300 PYTHON=python3 (with playwright)
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH:/usr/sbin"
loads=${LOADS:-20}
assets=${ASSETS:-300}
python=${PYTHON:-python3}
app=bench.page
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
if ! command -v nginx >/dev/null && [ "$(id -u)" = 0 ]; then quietly apt-get install -y --no-install-recommends nginx-light; fi
for tool in nginx chromium curl; do
    command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install nginx-light chromium curl"
done
"$python" -c 'import playwright' 2>/dev/null || fail "$python has no playwright: pip install playwright, or PYTHON=…"

title "A bundle whose page asks for $assets scripts, style sheets and pictures"
mkdir -p "$work/v1/web"
printf 'app: %s\nchannel: production\npatches:\n  - {id: web, kind: bundle, version: "1", folder: web, index: index.html}\n' $app >"$work/v1/release.yaml"
"$python" - "$work/v1/web" "$assets" <<'PYTHON'
import pathlib, random, sys
folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
random.seed(300)
head, body = [], []
for number in range(count):
    size = random.choice([800, 2_000, 6_000, 20_000, 60_000])
    filler = "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=size))
    if number % 5 == 3:
        (folder / f"s{number}.css").write_text(f"/* {filler} */ .c{number} {{ color: red }}\n")
        head.append(f'<link rel="stylesheet" href="/s{number}.css">')
    elif number % 5 == 4:
        (folder / f"p{number}.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><!-- {filler} --></svg>\n')
        body.append(f'<img src="/p{number}.svg" alt="">')
    else:
        (folder / f"m{number}.js").write_text(f"/* {filler} */ window.count = (window.count || 0) + 1;\n")
        body.append(f'<script defer src="/m{number}.js"></script>')
page = "<!doctype html><meta charset=utf-8><title>300</title><link rel=icon href=data:,>" + "".join(head) + "<body>" + "".join(body) + "\n"
(folder / "index.html").write_text(page)
PYTHON
publish_first 2048
log=$work/access.log
serve_to_pages
start_nginx "$work/v1/web" 'add_header Cache-Control no-cache;'
server_pid=$nginx_pid

title "$loads loads from each, by turns, each in a new profile"
"$python" - "$nginx_url" "$patchsync_url" "${cookie%%=*}" "${cookie##*=}" "$loads" "$assets" <<'PYTHON'
import statistics, sys
from playwright.sync_api import sync_playwright
nginx, patchsync, name, token, loads, assets = *sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6])
times = {"nginx": [], "patchsync serve": []}
first_byte = {"nginx": [], "patchsync serve": []}
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
    def load(server, url):
        context = browser.new_context()
        context.add_init_script("performance.setResourceTimingBufferSize(100000)")
        # To both, so that both get the same requests.
        context.add_cookies([{"name": name, "value": token, "url": url}])
        page = context.new_page()
        page.goto(url + "/", wait_until="load")
        page.wait_for_function("performance.getEntriesByType('navigation')[0].loadEventEnd > 0")
        parts = page.evaluate("performance.getEntriesByType('resource').filter(part => part.name.startsWith(location.origin) && part.responseStatus === 200).length")
        assert parts == assets, f"{parts} of {assets} parts are there"
        navigation = page.evaluate("(() => { const n = performance.getEntriesByType('navigation')[0]; return [n.loadEventEnd, n.responseStart] })()")
        context.close()
        return navigation
    for url in (nginx, patchsync): load("", url)
    for turn in range(loads):
        order = [("nginx", nginx), ("patchsync serve", patchsync)]
        for server, url in order if turn % 2 == 0 else reversed(order):
            whole, first = load(server, url)
            times[server].append(whole)
            first_byte[server].append(first)
    browser.close()
ratio = statistics.median(ours / theirs for ours, theirs in zip(times["patchsync serve"], times["nginx"]))
print(f"\n| {assets} assets | first byte | whole page, median | fastest | slowest | beside nginx |\n|---|---:|---:|---:|---:|---:|")
for server, beside in (("nginx", "1"), ("patchsync serve", f"{ratio:.2f} ×")):
    some = times[server]
    print(f"| {server} | {statistics.median(first_byte[server]):.1f} ms | {statistics.median(some):.0f} ms | {min(some):.0f} ms | {max(some):.0f} ms | {beside} |")
PYTHON
