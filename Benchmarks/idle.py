"""What a program costs while nothing happens: `idle.py PID SECONDS` prints a row of the table of `device.sh`."""
import os, pathlib, sys, time

process, seconds = pathlib.Path("/proc") / sys.argv[1], int(sys.argv[2])


def field(file, name):
    return sum(int(line.split()[1]) for line in file.read_text().splitlines() if line.startswith(name))


def look():
    # A thread that ended took its count along; it is counted while it is there.
    threads = {}
    for thread in (process / "task").iterdir():
        try:
            threads[thread.name] = field(thread / "status", "voluntary_ctxt_switches:")
        except FileNotFoundError:
            pass
    ticks = sum(int(word) for word in (process / "stat").read_text().rpartition(")")[2].split()[11:13])
    return threads, ticks


def timers():
    """In how many seconds each of its timers is over."""
    for info in (process / "fdinfo").iterdir():
        for line in info.read_text().splitlines():
            if line.startswith("it_value: (") and line != "it_value: (0, 0)":
                yield int(line[11:].split(",")[0])


began, (before, ticks_before), slices = time.monotonic(), look(), []
last = before
while time.monotonic() - began < seconds:
    time.sleep(min(10, seconds))
    now, _ = look()
    slices.append(sum(count - last.get(thread, 0) for thread, count in now.items()))
    last = now
_, ticks = look()
memory = {name: field(process / "status", name) for name in ("VmRSS:", "RssAnon:", "RssFile:")}
print(f"| {seconds} s | {(ticks - ticks_before) / os.sysconf('SC_CLK_TCK'):.2f} s | {sum(slices)} "
      f"| {sum(1 for one in slices if one == 0)} of {len(slices)} times ten seconds | {memory['VmRSS:'] / 1000:.1f} MB ({memory['RssAnon:'] / 1000:.1f} + {memory['RssFile:'] / 1000:.1f}) | "
      f"{', '.join(f'{left} s' for left in sorted(timers())) or 'none'} |")
