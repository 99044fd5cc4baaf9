"""The two versions of an app that are released."""
import hashlib, os, re, shutil
import catalogue

CONFIRM = "patchline-confirm.js"
HEAD = re.compile(r"<head(?:\s[^>]*)?>", re.I)
FOOT = '<meta name="site-version" content="%d"><script src="/__patchline/launch.js"></script><script src="/' + CONFIRM + '"></script>'


def first(origin, target):
    """Copies the app. Each HTML document with a head gets its version and the two scripts by which a page confirms; the names of the files."""
    shutil.copytree(origin, target, symlinks=False)
    # Behind the page's own work, and with the answer kept for a look at it.
    catalogue.write(target, {CONFIRM: "addEventListener('load', () => patchline.confirm().then(() => window.confirmation = 'told', error => window.confirmation = String(error)));\n"})
    for name in pages(target):
        edit(os.path.join(target, name), lambda text: HEAD.sub(lambda head: head.group() + FOOT % 1, text, count=1))
    return catalogue.files_of(target)


def pages(folder):
    return [name for name in catalogue.files_of(folder) if name.endswith(".html")]


def edit(path, change):
    with open(path, encoding="latin-1", newline="") as file:
        text = file.read()
    with open(path, "w", encoding="latin-1", newline="") as file:
        file.write(change(text))


def second(target):
    """The next version in place: every page says 2, one script has a line more, one file is new, and a worker's list names the new digests."""
    digest = lambda name: hashlib.md5(open(os.path.join(target, name), "rb").read()).hexdigest()
    changed = {name: digest(name) for name in pages(target)}
    for name in changed:
        edit(os.path.join(target, name), lambda text: text.replace('name="site-version" content="1"', 'name="site-version" content="2"'))
    catalogue.write(target, {"added-in-version-2.txt": "new\n"})
    digests = {old: digest(name) for name, old in changed.items()}
    for worker in ("sw.js", "service-worker.js", "flutter_service_worker.js"):
        path = os.path.join(target, worker)
        if os.path.exists(path):
            def change(text):
                for old, new in digests.items():
                    text = text.replace(old, new)
                return text + "\n// version 2\n"
            edit(path, change)
