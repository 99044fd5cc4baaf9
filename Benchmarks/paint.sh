#!/usr/bin/env bash
# What a script patch costs the first paint: a headless Chromium loads a page of the sample shop into which `patchsync serve`
# puts one, and a page of the same bytes into which it puts none, by turns, each time with an empty cache.
#
# usage: Benchmarks/paint.sh BIN_DIR       LOADS=60 PYTHON=python3 (with playwright)
set -euo pipefail
shopt -s inherit_errexit
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH:/usr/sbin"
loads=${LOADS:-60}
python=${PYTHON:-python3}
app=bench.paint
work=$(mktemp -d "${TMPDIR:-/tmp}/patchline-bench.XXXXXX")
log=/dev/null
. "$here/common.sh"
for tool in chromium curl; do command -v "$tool" >/dev/null || fail "there is no $tool: sudo apt-get install chromium curl"; done
"$python" -c 'import playwright' 2>/dev/null || fail "$python has no playwright: pip install playwright, or PYTHON=…"

title "The sample shop, its page twice, and a fix for one of the two"
mkdir -p "$work/v1"
cp -r "$here/../Patches/storefront/v1/web" "$here/../Patches/storefront/v1/scripts" "$work/v1/"
cp "$work/v1/web/index.html" "$work/v1/web/patched.html"
cp "$work/v1/web/index.html" "$work/v1/web/plain.html"
cat >"$work/v1/release.yaml" <<YAML
app: $app
channel: production
patches:
  - {id: fix, kind: script, version: "1", file: scripts/fix-cart-total.js, runsIn: page, pages: [/patched.html]}
  - {id: web, kind: bundle, version: "1", folder: web, index: index.html}
YAML
publish_first 2048
log=$work/access.log
serve_to_pages

title "$loads loads of each, by turns, each in a new profile"
"$python" - "$patchsync_url" "${cookie%%=*}" "${cookie##*=}" "$loads" <<'PYTHON'
import statistics, sys
from playwright.sync_api import sync_playwright
url, name, token, loads = *sys.argv[1:4], int(sys.argv[4])
paint = {"plain": [], "patched": []}
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
    def load(kind):
        context = browser.new_context()
        context.add_cookies([{"name": name, "value": token, "url": url}])
        page = context.new_page()
        page.goto(f"{url}/{kind}.html", wait_until="load")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        count = page.evaluate("document.querySelectorAll('script[data-patch]').length")
        assert count == (1 if kind == "patched" else 0), f"{kind} has {count} script patches"
        at = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        context.close()
        return at
    for kind in paint: load(kind)
    for turn in range(loads):
        for kind in sorted(paint, reverse=turn % 2 == 0): paint[kind].append(load(kind))
    browser.close()
ratio = statistics.median(paint["patched"]) / statistics.median(paint["plain"])
print("\n| first contentful paint | median | fastest | slowest | beside |\n|---|---:|---:|---:|---:|")
for kind, beside in (("plain", "1"), ("patched", f"{ratio:.2f} ×")):
    some = paint[kind]
    print(f"| {kind} | {statistics.median(some):.1f} ms | {min(some):.1f} ms | {max(some):.1f} ms | {beside} |")
PYTHON
