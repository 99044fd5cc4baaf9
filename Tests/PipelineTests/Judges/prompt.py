"""Runs a program on a terminal of its own and answers its prompts.

usage: prompt.py ANSWER... -- PROGRAM ARGUMENT...

Types one ANSWER and a return at each `: ` that the program prints while it waits. Prints all that the terminal showed, and
ends as the program did.
"""
import os, pty, select, sys

cut = sys.argv.index('--')
answers, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown, asked = b'', 0
while True:
    ready, _, _ = select.select([terminal], [], [], 30)
    if not ready:
        break
    try:
        data = os.read(terminal, 4096)
    except OSError:
        break
    if not data:
        break
    shown += data
    if answers and shown[asked:].rstrip(b' ').endswith(b':'):
        asked = len(shown)
        os.write(terminal, answers.pop(0).encode() + b'\n')
status = os.waitpid(pid, 0)[1]
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(status))
