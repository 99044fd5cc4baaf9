"""Where a device answers otherwise than nginx, and means to. Anything else is a defect."""
from collections import namedtuple

Decision = namedtuple("Decision", "name text reason holds")


def page_wanted(difference):
    return difference.fields.get("Sec-Fetch-Dest") in ("document", "iframe")


# The stamp is taken out before bodies are compared (asks.STAMP), so no difference of it arrives here; its reason stands with the others.
DECISIONS = [
    Decision("stamp", "one script tag with the release's stamp in each HTML document",
             "the device must know which version is on the screen, also behind a service worker (page API)", lambda d: False),
    Decision("range-of-html", "ranges of an HTML document count its bytes with the stamp",
             "one representation, one length, one tag", lambda d: d.part in ("range", "body of a range") and d.path.endswith((".html", ".htm", "/"))),
    Decision("codings", "the device has brotli, zstd and gzip forms of its own, and picks the smallest that is accepted",
             "nginx sends only the .gz that lies in the folder", lambda d: d.part == "coding" and d.got is not None),
    Decision("left-out", "dot files (`.buildinfo`, `.vite/`) are not part of a release", "`patchsign` leaves out what may hold secrets; release.yaml can take it in",
             lambda d: "/." in d.path and "/.." not in d.path and d.got in (404, None)),
    Decision("nosniff", "Chromium says of a missing script or style besides that its type is refused", "`X-Content-Type-Options: nosniff` (<doc:PageAPI>)",
             lambda d: d.part == "console" and d.got.startswith(("Refused to execute script", "Refused to apply style")) and "MIME type ('text/plain')" in d.got),
    Decision("nosniff-404", "of a missing script or style Chromium then reports no 404", "as above",
             lambda d: d.part.endswith(" of nginx alone") and "404" in str(d.expected) and str(d.expected).split("?")[0].rstrip("')").endswith((".js", ".mjs", ".css"))),
    Decision("compressed-only", "a compressed file without its plain one is sent as that file, `application/gzip`, to a client that does not accept its coding",
             "nginx would send a coding that the client did not ask for",
             lambda d: d.part in ("type", "coding", "body") and d.path.split("?")[0].endswith(".gz") and not d.fields.get("Accept-Encoding")),
    Decision("forwarding", "a page that forwards at once aborts its calls to the device", "nginx has no such calls; the next page makes them again",
             lambda d: d.part == "failed request" and str(d.got).startswith(("aborted HOST/__patchline/confirm", "aborted HOST/__patchline/events"))),
    Decision("404-text", "the words of a 404 where the folder has no 404.html", "each host has its own", lambda d: d.part == "body of a 404" and "<center>nginx" in str(d.expected)),
    Decision("404-page", "404.html is sent where a page was asked for; a missing script, image or fetch gets one line of text",
             "nothing reads a page there, and a device may be asked often", lambda d: d.part == "body of a 404" and not page_wanted(d)),
]


def sort(differences):
    """({decision's name: how many}, what no decision explains)"""
    explained, defects = {}, []
    for difference in differences:
        for decision in DECISIONS:
            if decision.holds(difference):
                explained[decision.name] = explained.get(decision.name, 0) + 1
                break
        else:
            defects.append(difference)
    return explained, defects
