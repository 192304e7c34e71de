"""top - the records of a pool for records.py, and a terminal that looks at poolscope-top.

    top.py first NODES             each node has a phase that is open, and a sample
    top.py each NODES SECONDS      a tenth of the nodes is heard each second
    top.py watch SECONDS COMMAND   plays the terminal; prints what the command took

SPDX-License-Identifier: MIT
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

COLUMNS = "system.cpu.time.idle:cs:counter system.cpu.time.iowait:cs:counter system.cpu.logical.count:{cpu}:gauge"


def sample(node, at):
    # 8 processors, of which half is idle
    print(f"sample {at:.3f} {node} cpu {int(400 * (at + 1000))} {int(8 * (at + 1000))} 8")


def name(i):
    return f"tvmps_{i * 2654435761 % 2 ** 32:08x}{i:06d}_d"


def first(nodes):
    for i in range(nodes):
        node = name(i)
        print(f"event {-3 - i % 40} {node} cascade:pull-start img=app:v1.{i % 40}.3")
        print(f"group {node} cpu {COLUMNS}")
        sample(node, -2)


def each(nodes, seconds):
    begun = time.time()
    known = set()
    for second in range(seconds):
        for i in range(second % 10, nodes, 10):
            if i not in known:
                known.add(i)
                print(f"group {name(i)} cpu {COLUMNS}")
            sample(name(i), time.time() - int(os.environ["BASE"]))
        print("----", flush=True)
        time.sleep(max(0, begun + second + 1 - time.time()))


class Terminal:
    def __init__(self, command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def read(self, seconds):
        """When it was silent for that long: when its last bytes came; None: none came."""
        last = None
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                os.read(self.fd, 1 << 16)
            except OSError:  # it has ended
                break
            last = time.monotonic()
        return last

    def drain(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.read(min(left, 0.05)) or time.sleep(min(0.02, max(0, left)))

    def cpu(self):
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def memory(self):
        with open(f"/proc/{self.pid}/status") as file:
            status = dict(line.split(":", 1) for line in file)
        return {key: int(status[key].split()[0]) / 1024 for key in ("VmHWM", "VmRSS", "RssAnon", "RssFile")}


def watch(seconds, command):
    terminal = Terminal(command)
    terminal.drain(5)
    used, begun = terminal.cpu(), time.monotonic()
    terminal.drain(seconds)
    share = (terminal.cpu() - used) / (time.monotonic() - begun)
    took = []
    for key in "jjkGgs2341r" * 9:
        terminal.read(0.02)
        at = time.monotonic()
        os.write(terminal.fd, key.encode())
        if select.select([terminal.fd], [], [], 1)[0]:
            last = terminal.read(0.01)
            took.append((last - at) * 1e3)
    took.sort()
    memory = terminal.memory()
    print(f"processor    {share * 100:6.2f} % of a core")
    print(f"key, screen  {took[len(took) // 2]:6.1f} ms, p99 {took[int(len(took) * 0.99)]:.1f} ms of {len(took)} keys")
    print(f"memory       {memory['VmHWM']:6.1f} MiB at most; at the end {memory['VmRSS']:.1f}: "
          f"{memory['RssAnon']:.1f} its own, {memory['RssFile']:.1f} of mapped files")
    os.write(terminal.fd, b"q")
    terminal.drain(0.3)
    _, status = os.waitpid(terminal.pid, 0)
    if status != 0:
        sys.exit(f"status {status}")


what, arguments = sys.argv[1], sys.argv[2:]
if what == "first":
    first(int(arguments[0]))
elif what == "each":
    each(int(arguments[0]), int(arguments[1]))
else:
    watch(float(arguments[0]), arguments[1:])
