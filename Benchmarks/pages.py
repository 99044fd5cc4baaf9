#!/usr/bin/env python3
"""Live pages in a headless Chromium over a slow link: bytes on it and the first paint, by what the page's server sends.

usage: pages.py FOLDER SITE LINK_TO_SITE LINK_TO_PAGES DEVICE COOKIE LOADS      three URLs, `name=value`, how often each

Prints the table of Pages.md.
"""
import pathlib, statistics, sys, urllib.request
from playwright.sync_api import sync_playwright

folder, site, plain_link, pages_link, device, cookie, loads = *sys.argv[1:7], int(sys.argv[7])
names = sorted(file.name.removesuffix(".old.html") for file in pathlib.Path(folder).glob("*.old.html"))
cookie_name, _, token = cookie.partition("=")


def get(url):
    return urllib.request.urlopen(url).read().decode()


def show(version):
    get(f"{site}/__show?{version}")


PAINTED = """() => new Promise(done => new PerformanceObserver(list => {
    for (const entry of list.getEntriesByName('first-contentful-paint')) done(entry.startTime);
}).observe({ type: 'paint', buffered: true }))"""


def painted(page):
    return page.evaluate(PAINTED)


OUTCOME = """async () => {
    const visit = performance.getEntriesByType('navigation')[0].serverTiming?.find(entry => entry.name === 'patchline-page')?.description;
    const answer = await fetch('/__patchline/page?path=' + encodeURIComponent(location.pathname) + (visit ? '&visit=' + visit : ''));
    return [(await answer.json()).code, performance.now()];
}"""


with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])

    def fresh():
        context = browser.new_context()
        return context, context.new_page()

    def once(case, name):
        """-> bytes on the link, first paint, and where it is told what has changed, when."""
        link = plain_link if case in ("plain", "gzip") else pages_link
        if case == "file":
            context, page = fresh()
            page.goto(f"file://{folder}/{name}.new.html")
            result = 0, painted(page), None
        elif case in ("plain", "gzip"):
            show("new")
            context, page = fresh()
            get(f"{link}/__bytes")
            page.goto(f"{link}/{name}" + ("?plain" if case == "plain" else ""))
            result = int(get(f"{link}/__bytes")), painted(page), None
        elif case == "dcz":
            show("old")
            context, page = fresh()
            page.goto(f"{link}/{name}")
            show("new")
            get(f"{link}/__bytes")
            answer = page.goto(f"{link}/{name}")
            assert answer.all_headers().get("content-encoding") == "dcz", answer.all_headers()
            result = int(get(f"{link}/__bytes")), painted(page), None
        else:
            show("old")
            context, page = fresh()
            context.add_cookies([{"name": cookie_name, "value": token, "url": device}])
            page.goto(f"{device}/{name}")
            page.evaluate(OUTCOME)
            show({"304": "old", "data": "new", "template": "other"}[case])
            get(f"{link}/__bytes")
            page.goto(f"{device}/{name}")
            first = painted(page)
            code, told = page.evaluate(OUTCOME)
            assert code == {"304": 304, "data": 200, "template": 2000}[case], f"{case}: {code}"
            result = int(get(f"{link}/__bytes")), first, told
        context.close()
        return result

    print("| page | case | bytes on the link | first paint, ms | told what changed, ms |\n|---|---|---:|---:|---:|")
    for name in names:
        for case in ("plain", "gzip", "304", "data", "template", "dcz", "file"):
            results = [once(case, name) for _ in range(loads)]
            told = [result[2] for result in results if result[2] is not None]
            print(f"| {name} | {case} | {round(statistics.median(r[0] for r in results)):,} | {statistics.median(r[1] for r in results):,.0f} | "
                  f"{format(statistics.median(told), ',.0f') if told else ''} |", flush=True)
    browser.close()
