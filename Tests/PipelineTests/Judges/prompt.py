"""Runs a program on a terminal of its own and answers its prompts.

usage: prompt.py ANSWER... -- PROGRAM ARGUMENT...

Types one ANSWER and a return at each `: ` that the program prints while it waits. Prints all that the terminal showed, and
ends as the program did. With THEN in the environment the program is a server: THEN is run by the shell once it listens, with
its address in URL and, where it says one, that of operators in OPERATORS; what that prints comes last, the server is told to stop, and the end is that of THEN.
"""
import os, pty, re, select, signal, subprocess, sys

cut = sys.argv.index('--')
answers, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown, asked, then = b'', 0, os.environ.get('THEN')
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
    listening = re.search(rb'listening on (http://\S+)\s', shown)
    if then and listening:
        operators = re.search(rb'operators on (http://\S+)\s', shown)
        addresses = {'URL': listening[1].decode(), 'OPERATORS': operators[1].decode() if operators else ''}
        done = subprocess.run(['sh', '-c', then], env=os.environ | addresses, capture_output=True)
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        sys.stdout.write((shown + done.stdout + done.stderr).decode())
        sys.exit(done.returncode)
status = os.waitpid(pid, 0)[1]
sys.stdout.write(shown.decode())
sys.exit(os.waitstatus_to_exitcode(status))
