"""A machine to be thrown away: attacks that would hurt this one are shown there to work where no walls stand.

Only root can build it: the whole file system under an overlay in memory, with processes, network, names and devices of
its own. Everything an attack hopes to find is there, and whatever it breaks is gone when its first process ends.
"""

import os
import subprocess
from collections.abc import Mapping

from tests.patience import PATIENCE
from tests.workshop.walls.attacks import ATTACKS, WORK_OUTSIDE
from tests.workshop.walls.lab import SECRET, Lab

APART = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--propagation", "private")
LISTENS = """
import socket, time
servers = [socket.create_server(("", port)) for port in (443, 3128, 8317)]
print("ready", flush=True)
time.sleep(600)
"""
MACHINE = f"""
set -e
lab=$1 script=$2
mount -t tmpfs -o size=2g,mode=755 memory /mnt
mkdir /mnt/up /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
cd /mnt/root
test -d ".$lab" || {{ mkdir -p ".$lab"; mount --bind "$lab" ".$lab"; }}
mount -t tmpfs {SECRET} mnt
mount --bind usr usr
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -t tmpfs -o mode=755 dev dev
disks=$(cd /dev; ls -d sd* vd* nvme* 2>/dev/null || true)
for device in null zero full random urandom tty $disks; do cp -a /dev/$device dev/; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx; ln -s /proc/self/fd dev/fd
mount -t tmpfs shm dev/shm
ip link set lo up; ip address add 192.0.2.1/32 dev lo
echo '192.0.2.1 allowed.test' >> etc/hosts
mkdir -p run/dbus run/systemd ws sbx etc/ssl/private
touch run/dbus/socket sbx/inside.py
exec 8< <(chroot . python3 -c '{LISTENS}')
read -r _ <&8
set +e
chroot . bash -c 'cd "$1/tree" && eval "$2"' - "$lab" "$script"
"""

NOT_EVERYWHERE: Mapping[str, str] = {
    # The walls refuse these whatever the kernel can do; one that cannot do them at all refuses them to everybody.
    "open a socket to the hypervisor": "only a virtual machine has one to talk to",
    "set up io_uring": "it can be left out of a kernel or switched off",
    "use the kernel's keyring": "it can be left out of a kernel",
    "read the kernel's keys": "there may be none",
    "open a crypto socket": "it can be left out of a kernel",
    "call the kernel in another dialect": "only x86_64 kernels with the old one built in know it",
    "read a disk": "a container may be given none",
    "make a user namespace": "a kernel can be told to allow none",
    "change the root folder in a namespace": "a kernel can be told to allow none",
    "clone into a namespace": "a kernel can be told to allow none",
    "clone where flags cannot be seen": "a kernel can be told to allow none",
    "type into a terminal": "newer kernels can be told to refuse it to all",
    "press the magic key": "it can be left out of a kernel",
}
IN_THE_MACHINE = tuple(name for name in ATTACKS if name not in WORK_OUTSIDE)


def attack(lab: Lab, name: str) -> subprocess.CompletedProcess[str]:
    """Run an attack as root where nothing keeps it in and nothing can be hurt."""
    own = {"HOST_SECRET": SECRET, "HOME": str(lab.folder / "home"), "PATH": os.environ["PATH"]}
    facts = {**lab.walls().environment, **own}
    command = [*APART, "bash", "-c", MACHINE, "machine", str(lab.folder), ATTACKS[name]]
    return subprocess.run(command, env=facts, capture_output=True, text=True, check=False, timeout=PATIENCE)
