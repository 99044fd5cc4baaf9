"""The tables of the page "Real web apps", of what `sites.py --json` printed: table.py FILE"""
import json, sys
import decisions

apps = json.load(open(sys.argv[1]))["apps"]
size = lambda number: f"{number / 1e6:.1f} MB" if number >= 1e5 else f"{number / 1e3:.1f} kB"
print("| app | made by | routing | files, MB | requests | defects | intended | service worker | first page: device, nginx | update | v2 shown | next launch |")
print("|---|---|---|---:|---:|---:|---:|---|---:|---:|---|---|")
for app in apps:
    if "missing" in app or "failed" in app:
        print(f"| {app['app']} | {app['what']} | | | {app.get('missing') or app['failed']} |")
        continue
    paint, update, launch = app["first_page"], app["update"], app["next_launch"]
    print(f"| {app['app']} | {app['what']} | {app['kind']}{'' if app['recognised'] in (None, app['kind']) else ', set by release.yaml'} | {app['files']}, {app['bytes'] / 1e6:.1f} | {app['asked']:,} | {len(app['defects'])} | {sum(app['intended'].values()):,} | "
          f"{', '.join(script for _, script in app['worker']) or '–'} | {paint['device']:,} ms, {paint['nginx']:,} ms | {size(update['bytes'])} | "
          f"{'yes' if update['shown'] is not None else 'no'} | {'v%d' % launch['version']}{', refused: ' + ', '.join(launch['refused']) if launch['refused'] else ''} |")
print()
print("| difference | reason |\n|---|---|")
for decision in decisions.DECISIONS:
    count = sum(app.get("intended", {}).get(decision.name, 0) for app in apps)
    print(f"| {decision.text} | {decision.reason} ({count:,} answers) |" if count else f"| {decision.text} | {decision.reason} |")
print()
print("Works on `NAME.localhost`: " + ", ".join(sorted(set.intersection(*[set(app["apis"]) for app in apps if "apis" in app]))))
