"""Real web apps on a device beside nginx on the same folder: their answers, what Chromium says of both, and an update.

usage: sites.py PROGRAMS [--app NAME]… [--cache DIR] [--work DIR] [--json] [--no-browser] [--differences N]

Ends with 1 if a difference is not among the intended ones (decisions.py) or an app is missing.
"""
import argparse, json, os, shutil, sys, tempfile, time
import asks, catalogue, decisions, programs, versions


def parsed():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("programs")
    words.add_argument("--app", action="append", choices=list(catalogue.APPS))
    words.add_argument("--cache", default=os.environ.get("PATCHLINE_SITES_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "patchline-sites"))
    words.add_argument("--work")
    words.add_argument("--json", action="store_true")
    words.add_argument("--no-browser", action="store_true")
    words.add_argument("--differences", type=int, default=12)
    return words.parse_args()


def judge(name, options, work):
    """One app: a dictionary of results."""
    app = catalogue.APPS[name]
    result = dict(app=name, kind=app["kind"], what=app["what"])
    try:
        origin = catalogue.obtain(name, options.cache)
    except (catalogue.Missing, OSError) as error:
        return dict(result, missing=str(error))
    ours = programs.Programs(os.path.abspath(options.programs), work)
    try:
        source = os.path.join(work, "source")
        files = versions.first(origin, os.path.join(source, "web"))
        began = time.monotonic()
        result["recognised"], said = ours.first_release(source, app["kind"])
        result.update(files=len(files), bytes=sum(os.path.getsize(os.path.join(source, "web", file)) for file in files),
                      signed=round(time.monotonic() - began, 1), signing=[line for line in said.splitlines() if "warning" in line][:8])
        ours.publish(1)
        result["install"] = dict(zip(("seconds", "bytes"), ours.sync()))
        theirs = programs.start_nginx(ours, os.path.join(source, "web"), files, app["kind"])
        url = ours.serve("--no-sync", port=str(programs.free_port()))
        began = time.monotonic()
        result["asked"], found = asks.compare_hosts(asks.enter(url), asks.Host(theirs), files, app["kind"])
        result["asking"] = round(time.monotonic() - began, 1)
        if not options.no_browser:
            import browser
            seen, more = browser.look(ours, url, theirs, source, work)
            result.update(seen)
            found += more
        if name in catalogue.OWN and result["recognised"] not in (None, app["kind"]):
            found.append(asks.Difference("release", "patchsign", name, {}, "routing", result["recognised"], app["kind"]))
        result["intended"], defects = decisions.sort(found)
        result["defects"] = [difference._asdict() for difference in defects]
    except Exception as error:  # Whatever fails at one app is its result; the others go on.
        result["failed"] = f"{type(error).__name__}: {error}"
    finally:
        ours.end()
    return result


def summary(result, most):
    if "missing" in result:
        return f"{result['app']:20} MISSING: {result['missing']}"
    if "failed" in result:
        return f"{result['app']:20} FAILED: {result['failed']}"
    lines = [f"{result['app']:20} {result['files']:5} files {result['bytes'] / 1e6:6.1f} MB, {result['asked']:6} requests, "
             f"{len(result['defects']):5} defects, intended {result['intended']}; " + ", ".join(
                 f"{key} {result[key]}" for key in ("first_page", "update", "next_launch", "worker") if key in result)]
    kinds = {}
    for defect in result["defects"]:
        values = (defect["got"], defect["expected"]) if defect["part"] in ("status", "type", "location", "version on the screen") else ()
        kinds.setdefault((defect["label"] if "body" in defect["part"] else "", defect["part"], str(values) if defect["part"] != "location" else ""), []).append(defect)
    for kind, members in list(kinds.items())[:most]:
        first = members[0]
        lines.append(f"    {len(members)} × {first['label']}: {first['method']} {first['path']}: {first['part']} {str(first['got'])[:110]}, expected {str(first['expected'])[:110]}")
    if len(kinds) > most:
        lines.append(f"    and {len(kinds) - most} kinds more")
    return "\n".join(lines)


def main():
    options = parsed()
    work = options.work or tempfile.mkdtemp(prefix="patchline-sites.")
    results = []
    try:
        for name in options.app or catalogue.APPS:
            place = os.path.join(work, name)
            shutil.rmtree(place, ignore_errors=True)
            results.append(judge(name, options, place))
            print(summary(results[-1], options.differences), file=sys.stderr if options.json else sys.stdout, flush=True)
            if not options.work:
                shutil.rmtree(place, ignore_errors=True)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)
    bad = [result["app"] for result in results if "missing" in result or "failed" in result or result["defects"]]
    if options.json:
        print(json.dumps(dict(apps=results, ok=not bad), indent=1))
    else:
        print(f"{len(results) - len(bad)} of {len(results)} apps as on nginx" + (f"; not: {', '.join(bad)}" if bad else ""))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
