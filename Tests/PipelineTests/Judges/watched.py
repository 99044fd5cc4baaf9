"""Runs a program whose standard error is a terminal of 100 columns, and hands on what it writes there: watched.py PROGRAM …"""
import fcntl, os, pty, struct, subprocess, sys, termios

ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
program = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
while True:
    try:
        piece = os.read(ours, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(2, piece)
sys.exit(program.wait())
