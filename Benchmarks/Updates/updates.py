"""The entry of Benchmarks/updates.sh: updates.py BIN WORK [--many] [--keep-peers] [APP…]"""

import json, os, sys

import many, pairs
from ours import fail, stored


def devices():
    """Kinds of devices by name, with what `patchsync init` gets beside: DEVICES="required= bare=--no-express"."""
    words = [word.partition("=") for word in os.environ.get("DEVICES", "required= manifest=--entry-signatures,manifest").split()]
    return {name: [option for option in options.split(",") if option] for name, _, options in words}


def main(programs, work, *words):
    programs, work = os.path.abspath(programs), os.path.abspath(work)
    apps = [word for word in words if not word.startswith("--")] or list(pairs.APPS)
    if unknown := [word for word in words if word not in pairs.APPS and word not in ("--many", "--keep-peers")]:
        fail(f"nobody knows {unknown[0]}; apps are {', '.join(pairs.APPS)}")
    name = f"{work}/{'many' if '--many' in words else 'results'}.json"
    kept = {}
    if "--keep-peers" in words and os.path.exists(f"{work}/results.json"):
        with open(f"{work}/results.json") as file:
            kept = json.load(file)["beside"]
        print("The stock tools' figures are those of the run before.")
    if "--many" in words:
        stored(name, many.measure(programs, work, devices()))
    else:
        stored(name, pairs.measure(programs, work, devices(), apps, kept))
    print(f"\nAll figures: {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
