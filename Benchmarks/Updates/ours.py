"""Patchline's side: releases made, published and served, devices made, synced and settled; each with time and memory."""

import json, os, re, secrets, shutil, subprocess, time


def fail(text):
    raise SystemExit(f"   ✗ {text}")


def run(command, **options):
    """Runs a command, and gives what it printed; what fails says so with its last lines."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        fail(f"exit {done.returncode} of: {' '.join(map(str, command))}\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done.stdout


def measured(command, note, **options):
    """The same under /usr/bin/time -v: seconds, CPU seconds and the highest memory in MB."""
    before = time.monotonic()
    said = run(["/usr/bin/time", "-v", "-o", note, *command], **options)
    seconds = time.monotonic() - before
    with open(note) as file:
        told = dict(line.strip().rsplit(": ", 1) for line in file if ": " in line)
    return {
        "seconds": round(seconds, 3),
        "cpu": round(float(told["User time (seconds)"]) + float(told["System time (seconds)"]), 2),
        "MB": round(int(told["Maximum resident set size (kbytes)"]) / 1000, 1),
    }, said


class Site:
    """One app with its keys and its server's folder."""

    def __init__(self, programs, work, app):
        self.programs, self.work, self.app, self.process = programs, work, app, None
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        with open(f"{work}/passphrase", "w") as file:
            file.write(secrets.token_urlsafe(18) + "\n")
        self.secret = ["--passphrase-file", f"{work}/passphrase"]
        self.data = ["--data", f"{work}/server"]
        run([self.program("patchsign"), "init", "--app", app, "--keys", f"{work}/keys", *self.secret,
             *os.environ.get("KEYS", "").split()])
        run([self.program("patchsrv"), "init", *self.data, "--trust", f"{work}/keys", "--online-key", f"{work}/keys/online.key", *self.secret])

    def program(self, name):
        return os.path.join(self.programs, name)

    def release(self, number, folder, version, index):
        """Signs `folder` as the next release."""
        described = f"{self.work}/described{number}"
        os.makedirs(described)
        run(["cp", "-al", folder, f"{described}/web"])
        with open(f"{described}/release.yaml", "w") as file:
            file.write(f'app: {self.app}\nchannel: production\npatches:\n'
                       f'  - {{id: web, kind: bundle, version: "{version}", folder: web, index: {index}}}\n')
        previous = ["--previous", f"{self.work}/release{number - 1}"] if number else []
        return measured([self.program("patchsign"), "release", described, "--output", f"{self.work}/release{number}",
                         "--keys", f"{self.work}/keys", *previous, *self.secret], f"{self.work}/usage")[0]

    def publish(self, number):
        return measured([self.program("patchsrv"), "publish", f"{self.work}/release{number}", *self.data, *self.secret], f"{self.work}/usage")[0]

    def serve(self):
        """Starts patchsrv, and gives the port where devices ask."""
        self.process = subprocess.Popen(
            [self.program("patchsrv"), "serve", *self.data, *self.secret, "--port", "0", "--operators-port", "0"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        for line in self.process.stdout:
            if found := re.search(r"listening on http://[^ ]*:(\d+)", line):
                return int(found[1])
        fail("patchsrv serve ended before it listened")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.communicate()
            self.process = None

    def device(self, name, url, options=()):
        run([self.program("patchsync"), "init", "--store", f"{self.work}/{name}", "--root", f"{self.work}/keys/root.json", "--server", url, *options])

    def sync(self, name, prefix=()):
        """A sync, with its time and memory; --json as it was printed is kept beside."""
        usage, said = measured([*prefix, self.program("patchsync"), "sync", "--store", f"{self.work}/{name}", "--json"], f"{self.work}/usage")
        with open(f"{self.work}/{name}.said.json", "w") as file:
            file.write(said)
        return usage

    def settle(self, name):
        """What waits becomes what runs, confirmed."""
        store = ["--store", f"{self.work}/{name}"]
        said = run([self.program("patchsync"), "switch", *store])
        found = re.search(r"^confirm: echo ([0-9a-f]+) ", said, re.M) or fail(f"nothing waits on {name}: {said}")
        with open(f"{self.work}/token", "w") as file:
            file.write(found[1] + "\n")
        run([self.program("patchsync"), "confirm", *store, "--launch-file", f"{self.work}/token"])

    def expect_version(self, name, version):
        """What waits or runs on a device is `version`, and all of it is whole."""
        run([self.program("patchsync"), "verify", "--store", f"{self.work}/{name}"])
        status = run([self.program("patchsync"), "status", "--store", f"{self.work}/{name}"])
        if not re.search(rf"^web +bundle +{re.escape(version)} ", status, re.M):
            fail(f"{name} has not {version}:\n{status}")


def stored(path, value):
    """Writes JSON in one step, so that a run that is stopped leaves a whole file."""
    with open(path + ".new", "w") as file:
        json.dump(value, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)
