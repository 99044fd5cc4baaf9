"""Runs a program whose standard input is a terminal on which somebody typed ANSWER: answered.py ANSWER PROGRAM …"""
import os, pty, subprocess, sys

ours, theirs = pty.openpty()
program = subprocess.Popen(sys.argv[2:], stdin=theirs)
os.close(theirs)
os.write(ours, sys.argv[1].encode() + b"\n")
sys.exit(program.wait())
