"""The front ends that `make sites` takes: wheels and generators of PyPI, pinned, in a cache outside the repository."""
import json, os, shutil, subprocess, sys, zipfile

# Each was written by others. `folder` is the site's place in the wheel; `index` is copied to index.html where a wheel has none, `also` is
# a folder under which the app's own server has the same files besides, and
# `base` is a placeholder that the app's own server fills in when it starts: here with nothing, for the app is at the root.
WHEELS = {
    "music-assistant": dict(wheel="music-assistant-frontend==2.17.350", folder="music_assistant_frontend/", kind="app", what="Vite, PWA"),
    "claude-code-remote": dict(wheel="claude-code-remote==1.0.2", folder="claude_code_remote/server/static/", base="__ROOT__", also="static/", kind="app", what="PWA, own worker"),
    "prefect": dict(wheel="prefect==3.9.1", folder="prefect/server/ui/", base="/PREFECT_UI_SERVE_BASE_REPLACE_PLACEHOLDER", kind="app", what="Vue"),
    "kedro-viz": dict(wheel="kedro-viz==12.5.0", folder="kedro_viz/html/", kind="app", what="React"),
    "chainlit": dict(wheel="chainlit==2.12.0", folder="chainlit/frontend/dist/", kind="app", what="React, source maps"),
    "octoprint": dict(wheel="octoprint==1.11.8", folder="octoprint/static/", index="intermediary.html", kind="site", what="pages without a generator"),
    "litellm": dict(wheel="litellm==1.110.2", folder="litellm/proxy/_experimental/out/", kind="site", what="Next.js export"),
    "flet": dict(wheel="flet-web==1.0.5", folder="flet_web/web/", kind="app", what="Flutter web, wasm"),
    "optuna": dict(wheel="optuna-dashboard==0.21.0", folder="optuna_dashboard/", only=("index.html", "public/", "img/"), kind="app",
                   what="React, precompressed .gz"),
    "gradio": dict(wheel="gradio==6.31.0", folder="gradio/templates/frontend/", kind="app", what="Svelte"),
    "mlflow": dict(wheel="mlflow==3.18.0", folder="mlflow/server/js/build/", kind="app", what="React, webpack"),
    "streamlit": dict(wheel="streamlit==1.67.0", folder="streamlit/static/", kind="app", what="React, Vite"),
    "marimo": dict(wheel="marimo==0.25.2", folder="marimo/_static/", kind="app", what="React, wasm"),
}
GENERATORS = ["mkdocs==1.6.1", "mkdocs-material==9.8.2", "Sphinx==9.0.4", "furo==2025.12.19", "pelican==4.10.2", "Markdown==3.11.3",
              "jupyterlite-core==0.8.6", "jupyterlab_server==2.28.1", "jupyter_server"]
GENERATED = {
    "mkdocs-material": dict(kind="site", what="MkDocs, folders with index.html"),
    "sphinx": dict(kind="site", what="Sphinx with furo, name.html"),
    "pelican": dict(kind="site", what="Pelican, name.html"),
    "jupyterlite": dict(kind="site", what="JupyterLite, worker"),
}
# The two that are written here, a dozen files each: a test of seconds.
OWN = {
    "garden": dict(kind="site", what="own: pages, folders, 404.html, one file with .gz only"),
    "notes": dict(kind="app", what="own: PWA whose worker answers pages from its cache"),
}
APPS = {**WHEELS, **GENERATED, **OWN}


class Missing(Exception):
    """An app that cannot be fetched or generated."""


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        raise Missing(f"{os.path.basename(str(words[0]))} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def wheel(requirement, cache):
    name, version = requirement.split("==")
    folder = os.path.join(cache, "wheels")
    os.makedirs(folder, exist_ok=True)
    def found():
        begin = f"{name.replace('-', '_')}-{version}-"
        return next((os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.startswith(begin)), None)
    if not found():
        run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--dest", folder, requirement)
    if not found():
        raise Missing(f"{requirement} has no wheel")
    return found()


def unpack(app, cache, target):
    begin, only = app["folder"], app.get("only")
    with zipfile.ZipFile(wheel(app["wheel"], cache)) as archive:
        for entry in archive.infolist():
            name = entry.filename[len(begin):]
            if not entry.filename.startswith(begin) or entry.is_dir() or name.endswith((".py", "py.typed")) or only and not name.startswith(only):
                continue
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            with archive.open(entry) as source, open(os.path.join(target, name), "wb") as file:
                shutil.copyfileobj(source, file)
    for name in files_of(target) if "base" in app else []:
        with open(os.path.join(target, name), "rb") as file:
            text = file.read()
        if (base := app["base"].encode()) in text:
            with open(os.path.join(target, name), "wb") as file:
                file.write(text.replace(base, b""))
    if "also" in app:
        shutil.copytree(target, target + ".copy")
        os.rename(target + ".copy", os.path.join(target, app["also"]))
    if "index" in app:
        shutil.copyfile(os.path.join(target, app["index"]), os.path.join(target, "index.html"))


def write(folder, files):
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def generate(name, cache, target):
    """The generators' input is made here; their themes are what others wrote."""
    tools = os.path.join(cache, "generators")
    pinned = os.path.join(tools, "pinned.json")
    if not os.path.exists(pinned) or json.load(open(pinned)) != GENERATORS:
        shutil.rmtree(tools, ignore_errors=True)
        run(sys.executable, "-m", "venv", tools)
        run(os.path.join(tools, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *GENERATORS)
        json.dump(GENERATORS, open(pinned, "w"))
    tool = lambda program: os.path.join(tools, "bin", program)
    source = target + ".source"
    shutil.rmtree(source, ignore_errors=True)
    pages = {f"guide/part-{part}": f"# Part {part}\n\nSome *words* of part {part}, and [the home page](../index.md).\n\n```python\nprint({part})\n```\n"
             for part in range(1, 7)}
    if name == "mkdocs-material":
        write(source, {"mkdocs.yml": "site_name: Garden\ntheme:\n  name: material\n  font: false\n  features: [navigation.instant]\nplugins: [search]\n",
                       "docs/index.md": "# Home\n\n[Part 1](guide/part-1.md)\n", **{f"docs/{page}.md": text for page, text in pages.items()}})
        run(tool("mkdocs"), "build", "--quiet", "--site-dir", target, cwd=source)
    elif name == "sphinx":
        names = "\n".join(f"   {page}" for page in pages)
        write(source, {"conf.py": "project = 'Garden'\nhtml_theme = 'furo'\n", "index.rst": f"Garden\n======\n\n.. toctree::\n\n{names}\n",
                       **{f"{page}.rst": f"Part\n====\n\nSome words of {page}.\n\n.. code-block:: python\n\n   print(1)\n" for page in pages}})
        run(tool("sphinx-build"), "-q", "-b", "html", source, target)
    elif name == "pelican":
        write(source, {"pelicanconf.py": "SITENAME = 'Garden'\nSITEURL = ''\nPATH = 'content'\nTIMEZONE = 'UTC'\nDEFAULT_LANG = 'en'\nTHEME = 'notmyidea'\n",
                       **{f"content/{page.replace('/', '-')}.md": f"Title: {page}\nDate: 2026-01-0{i + 1}\nCategory: guide\n\nSome words.\n"
                          for i, page in enumerate(pages)}})
        run(tool("pelican"), "content", "-o", target, "-s", "pelicanconf.py", cwd=source)
    elif name == "jupyterlite":
        os.makedirs(source)
        run(tool("jupyter"), "lite", "build", "--output-dir", target, cwd=source, env=dict(os.environ, PATH=os.path.join(tools, "bin") + ":" + os.environ["PATH"]))
    shutil.rmtree(source, ignore_errors=True)


def files_of(folder):
    """Paths below the folder, sorted."""
    return sorted(os.path.relpath(os.path.join(place, file), folder) for place, _, files in os.walk(folder) for file in files)


def obtain(name, cache):
    """The folder of the app's files as its authors made them, fetched once."""
    if name in OWN:
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    app = APPS[name]
    target = os.path.join(cache, "sites", name)
    stamp = target + ".json"
    if os.path.exists(stamp) and json.load(open(stamp)) == app:
        return target
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    unpack(app, cache, target) if name in WHEELS else generate(name, cache, target)
    if not os.path.exists(os.path.join(target, "index.html")):
        raise Missing("it has no index.html")
    json.dump(app, open(stamp, "w"))
    return target
