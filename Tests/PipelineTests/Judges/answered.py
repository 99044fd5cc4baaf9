"""Runs a program at a terminal of its own and answers its [y/N] there, ^C by that key: answered.py ANSWER PROGRAM …"""
import fcntl, os, pty, subprocess, sys, termios

ours, theirs = pty.openpty()
program = subprocess.Popen(
    sys.argv[2:],
    stdin=theirs,
    stderr=subprocess.PIPE,
    start_new_session=True,
    preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
)
os.close(theirs)
said = b""
while piece := os.read(program.stderr.fileno(), 65536):
    os.write(2, piece)
    said += piece
    if said.endswith(b"[y/N] "):
        os.write(ours, b"\x03" if sys.argv[1] == "^C" else sys.argv[1].encode() + b"\n")
sys.exit(program.wait())
