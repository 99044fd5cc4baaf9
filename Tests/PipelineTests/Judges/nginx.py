"""nginx with one server block on a port that the kernel chose: nginx.py CONFIGURATION FOLDER WORK

The block's `listen` and `root` are replaced. nginx takes the socket over as it does from the process before it when it is
upgraded (the environment variable NGINX), so nobody else can have the port.
"""
import os, re, shutil, socket, sys

configuration, folder, work = sys.argv[1:]
program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
if program is None:
    sys.exit("nginx is missing")
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(64)
address = "127.0.0.1:%d" % listener.getsockname()[1]
block, listens = re.subn(r"listen [^\s;]+( ssl)?;", r"listen %s\1;" % address, open(configuration).read())
block, roots = re.subn(r"root \S+;", "root %s;" % folder, block)
assert listens == 1 and roots <= 1, "one listen and at most one root are expected"
paths = "".join("%s_temp_path %s/%s;\n" % (kind, work, kind)
                for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
with open(work + "/nginx.conf", "w") as file:
    # Root's workers would be nobody's, who cannot read the test's folder.
    file.write("daemon off;\nworker_processes 1;\n%s" % ("user root;\n" if os.getuid() == 0 else ""))
    file.write("pid %s/pid;\nerror_log stderr warn;\nevents {}\n" % work)
    file.write("http {\naccess_log %s/access.log;\n%s%s}\n" % (work, paths, block))
os.set_inheritable(listener.fileno(), True)
scheme = "https" if " ssl;" in block else "http"
print("listening on " + scheme + "://" + address, flush=True)
os.execve(program, [program, "-c", work + "/nginx.conf", "-e", "stderr"],
          dict(os.environ, NGINX="%d;" % listener.fileno()))
