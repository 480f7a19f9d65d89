"""Agents that misbehave, each a few lines of Python for a real process."""

READY = "print('ready', flush=True)\n"
SLEEP = "import time; time.sleep(600)\n"
QUIET = READY + SLEEP
IGNORES_TERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + READY + SLEEP
DOUBLE_FORK = """
import os, signal, time
told, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.closerange(0, 3)
    os.write(tell, b"!")
    time.sleep(600)
os.read(told, 1)
print("\\n".join(f"line {number}" for number in range(1000)))
print("ready", flush=True)
"""
STAYS_WITH_DAEMON = DOUBLE_FORK + SLEEP
LEAVES_DAEMON = DOUBLE_FORK + "raise SystemExit(7)"
# A chain that is always somebody else: each link forks the next and dies, so that no list of processes is ever true.
# Only for agents in a cgroup or a pid namespace: outside of both nothing can be sure to end it.
FORKS_FOREVER = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
for pause in (0, 0, 0.001, 0.001):
    if os.fork() == 0:
        os.setsid()
        while True:
            time.sleep(pause)
            try:
                if os.fork():
                    os._exit(0)
            except OSError:
                time.sleep(0.001)
time.sleep(600)
"""
CLOSES_STDOUT = """
import os, pathlib, time
os.closerange(1, 3)
pathlib.Path("worked").write_text("on")
os._exit(3)
"""
CHATTY = """
import time
for number in range(1000000):
    print("line", number, flush=True)
    time.sleep(0.05)
"""
WORKS_IN_SILENCE = """
import time
while time.process_time() < 2:
    sum(range(10000))
print("ready", flush=True)
"""
NEVER_READS = READY + SLEEP
ECHOES = """
import sys
print("ready", flush=True)
for line in sys.stdin:
    print("heard", line, end="", flush=True)
print("end of input", flush=True)
"""
READS_A_FILE = """
import os
print(os.read(11, 1 << 20) == b"x" * 70000, os.read(3, 100), flush=True)
"""
SPEAKS_TO_NOBODY = """
import pathlib, sys, time
print("ready", flush=True)
sys.stdin.readline()
print("going", flush=True)
pathlib.Path("told").read_text()
print("nobody reads this", flush=True)
pathlib.Path("said").write_text("it")
time.sleep(600)
"""
TERMINAL = """
import os, signal, sys, time
def size(*_): os.write(1, b"size %d %d\\n" % os.get_terminal_size())  # print cannot be interrupted by itself
def interrupt(*_): os.write(1, b"interrupted\\n")
signal.signal(signal.SIGWINCH, size)
signal.signal(signal.SIGINT, interrupt)
size()
print("terminal", sys.stdin.isatty(), os.tcgetpgrp(0) == os.getpgrp(), flush=True)
for line in sys.stdin:
    print("heard", line, end="", flush=True)
"""
# On one line, for a shell to run; what it says is not what the terminal echoes.
JOB = (
    "import os, signal, time; signal.signal(signal.SIGCONT, lambda *_: os.write(1, b'job ' b'is back')); "
    "os.write(1, b'job ' b'runs'); time.sleep(600)"
)
# TIOCSTI: what an agent would push into the terminal's input, as if a person had typed it.
TYPES_BY_ITSELF = """
import fcntl
try:
    fcntl.ioctl(0, 0x5412, b"x")
except PermissionError:
    print("cannot type by itself", flush=True)
"""


def prints(mebibytes: int) -> str:
    """An agent that prints that much, numbered, and then waits for the end of its input."""
    return f"""
import sys
for number in range({mebibytes} * 1024):
    sys.stdout.write(f"{{number:015d}} ".ljust(1023, ".") + "\\n")
print("ready", flush=True)
sys.stdin.read()
"""
