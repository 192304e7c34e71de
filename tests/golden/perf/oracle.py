"""oracle - python3-psutil as the judge of poolscope-agent --replay.

    oracle.py compare EXPECTED GOT     two files of reports, exactly equal
    oracle.py random AGENT DIR [SEED]  images made up, psutil pointed at them
    oracle.py live AGENT DIR           images of this machine, with psutil

Exit status 77: psutil is not there.
SPDX-License-Identifier: MIT
"""
import json
import os
import random
import subprocess
import sys
import time

try:
    import psutil
except ImportError:
    psutil = None

FILES = ("stat", "meminfo", "diskstats", "net/dev")


def agent(program, dirs):
    done = subprocess.run([program, "--replay", *dirs, "--print", "perf"],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def is_loopback(name):
    return "loopback" in name.lower() or name.lower() == "lo"


def totals():
    """Disk and network counters of psutil as the report sums them."""
    disks = psutil.disk_io_counters()
    nets = psutil.net_io_counters(pernic=True)
    lo = [n for name, n in nets.items() if is_loopback(name)]
    ext = [n for name, n in nets.items() if not is_loopback(name)]
    return {
        "disk_io_read_mb": (disks.read_bytes if disks else 0) / 2**20,
        "disk_io_write_mb": (disks.write_bytes if disks else 0) / 2**20,
        "net_io_lo_sent_mb": sum(n.bytes_sent for n in lo) / 2**20,
        "net_io_lo_recv_mb": sum(n.bytes_recv for n in lo) / 2**20,
        "net_io_ext_sent_mb": sum(n.bytes_sent for n in ext) / 2**20,
        "net_io_ext_recv_mb": sum(n.bytes_recv for n in ext) / 2**20,
    }


# ---- made up --------------------------------------------------------------

class Host:
    """A machine whose counters grow, wrap, come and go."""

    def __init__(self, rng):
        self.rng = rng
        cpus = rng.choice((1, 2, 3, 64, 1024))
        self.cpus = [[rng.randrange(10**6) for _ in range(10)] for _ in range(cpus)]
        self.disks = {n: [rng.randrange(2**32) for _ in range(2)]
                      for n in rng.sample(("sda", "sdb", "dm-0", "loop0", "nvme0n1",
                                           "cciss/c0d0"), rng.randrange(7))}
        self.nets = {n: [rng.randrange(2**40) for _ in range(2)]
                     for n in rng.sample(("lo", "lo1", "LoopBack 2", "eth0", "eth0:1",
                                          "ib0", "my_loopback"), rng.randrange(1, 8))}

    def step(self):
        rng = self.rng
        for cpu in self.cpus:
            kind = rng.random()
            for i in range(10):
                if kind < 0.1:
                    cpu[i] += 0
                elif kind < 0.15:
                    cpu[i] = max(0, cpu[i] - rng.randrange(5))
                else:
                    cpu[i] += rng.randrange(120)
        for table in (self.disks, self.nets):
            for name in list(table):
                if rng.random() < 0.1:
                    del table[name]
                    continue
                for i in range(2):
                    if rng.random() < 0.1:
                        table[name][i] = rng.randrange(1000)
                    else:
                        table[name][i] += rng.randrange(10**6)
        if rng.random() < 0.3:
            self.disks["sdz"] = [rng.randrange(100), rng.randrange(100)]
        if rng.random() < 0.3:
            self.nets["veth9"] = [rng.randrange(100), rng.randrange(100)]

    def image(self, dir_):
        rng = self.rng
        lines = ["cpu  " + " ".join(str(sum(c[i] for c in self.cpus)) for i in range(10))]
        lines += [f"cpu{n} " + " ".join(map(str, c)) for n, c in enumerate(self.cpus)]
        write(f"{dir_}/stat", "\n".join(lines + ["intr 5 0", "ctxt 7", ""]))
        total = rng.randrange(1, 2**31)
        free = rng.randrange(total + 1)
        rows = {"MemTotal": total, "MemFree": free, "Buffers": 3,
                "Cached": rng.randrange(total - free + 1), "Active": 1, "Inactive": 1,
                "Shmem": 1, "Slab": 2}
        if rng.random() < 0.8:
            rows["MemAvailable"] = rng.randrange(int(total * 1.1) + 1)
        write(f"{dir_}/meminfo", "".join(f"{k}: {v} kB\n" for k, v in rows.items()))
        disks = []
        for name, (read, written) in self.disks.items():
            more = " 1 2 3 4 5 6" if rng.random() < 0.5 else ""
            disks.append(f" 8 0 {name} 1 2 {read} 4 5 6 {written} 8 9 10 11{more}\n")
            disks.append(f" 8 1 {name}1 9 {read} 8 {written}\n")
        write(f"{dir_}/diskstats", "".join(disks))
        nets = [f"{name:>6}:{r} 2 3 4 5 6 7 8 {s} 10 11 12 13 14 15 16\n"
                for name, (r, s) in self.nets.items()]
        write(f"{dir_}/net/dev", "Inter-| x\n face |y\n" + "".join(nets))
        blocks = rng.choice((0, rng.randrange(1, 2**40)))
        bfree = rng.randrange(blocks + 1)
        bavail = rng.randrange(bfree + 1)
        host = {"time": 1.6e9 + rng.random() * 1e6, "sys_block": list(self.disks),
                "statvfs": {"f_blocks": blocks, "f_bfree": bfree, "f_bavail": bavail,
                            "f_frsize": 4096}}
        write(f"{dir_}/host.json", json.dumps(host))
        return host


def judge(dirs, hosts):
    """The reports as psutil sees the images."""
    reports = []
    for i in range(1, len(dirs)):
        host = hosts[i]
        psutil.PROCFS_PATH = dirs[i - 1]
        begin = psutil.cpu_times(percpu=True)
        psutil.PROCFS_PATH = dirs[i]
        end = iter((begin, psutil.cpu_times(percpu=True)))
        real, sleep = psutil.cpu_times, psutil.time.sleep
        psutil.cpu_times = lambda percpu, end=end: next(end)
        psutil.time.sleep = lambda _: None
        cpu = psutil.cpu_percent(interval=1, percpu=True)
        psutil.cpu_times, psutil.time.sleep = real, sleep
        psutil._pslinux.is_storage_device = lambda n, host=host: n in host["sys_block"]
        fs = host["statvfs"]
        used = (fs["f_blocks"] - fs["f_bfree"]) * fs["f_frsize"]
        user = used + fs["f_bavail"] * fs["f_frsize"]
        reports.append({
            "cpu_pct_per_cpu_avg": sum(cpu) / len(cpu),
            "cpu_pct_per_cpu_min": min(cpu),
            "cpu_pct_per_cpu_max": max(cpu),
            "mem_percent": psutil.virtual_memory().percent,
            "disk_usage_percent": round(used / user * 100, 1) if user else 0.0,
            "timestamp": host["time"], **totals()})
    psutil.PROCFS_PATH = "/proc"
    return reports


def made_up(program, top, seed):
    for round_ in range(max(6, 60 // int(os.environ.get("SHARE", "1")))):
        rng = random.Random(seed * 1000 + round_)
        host = Host(rng)
        psutil.disk_io_counters.cache_clear()
        psutil.net_io_counters.cache_clear()
        dirs, hosts = [], []
        for i in range(6):
            dirs.append(f"{top}/{round_}/snap_{i:03}")
            hosts.append(host.image(dirs[-1]))
            host.step()
        wanted, got = judge(dirs, hosts), agent(program, dirs)
        if wanted != got:
            print(f"seed {seed} round {round_}:")
            for a, b in zip(wanted, got):
                print({k: (a[k], b[k]) for k in a if a[k] != b[k]})
            return 1
    return 0


# ---- this machine ---------------------------------------------------------

def capture(dir_):
    for name in FILES:
        with open(f"/proc/{name}", encoding="utf-8") as file:
            text = file.read()
        write(f"{dir_}/{name}", text)
    fs = os.statvfs("/")
    host = {"time": time.time(), "sys_block": os.listdir("/sys/block"),
            "statvfs": {k: getattr(fs, k) for k in
                        ("f_blocks", "f_bfree", "f_bavail", "f_frsize")}}
    write(f"{dir_}/host.json", json.dumps(host))


def live(program, top):
    """Captures and psutil cannot look at the same moment; on a busy machine
    some tries lie too far apart."""
    for try_ in range(30):
        dirs = [f"{top}/{try_}/snap_{i}" for i in range(2)]
        psutil.disk_io_counters.cache_clear()
        psutil.net_io_counters.cache_clear()
        capture(dirs[0])
        cpu = psutil.cpu_percent(interval=None, percpu=True)
        time.sleep(1)
        capture(dirs[1])
        cpu = psutil.cpu_percent(interval=None, percpu=True)
        theirs = {
            "cpu_pct_per_cpu_avg": sum(cpu) / len(cpu),
            "cpu_pct_per_cpu_min": min(cpu), "cpu_pct_per_cpu_max": max(cpu),
            "mem_percent": psutil.virtual_memory().percent,
            "disk_usage_percent": psutil.disk_usage("/").percent, **totals()}
        ours = agent(program, dirs)[0]
        # A tick of a hundred; a tenth of a percent; a page or a packet.
        near = {k: 1.1 if k.startswith("cpu") else 0.1001 if k.endswith("percent") else 0.5
                for k in theirs}
        far = {k: (theirs[k], ours[k]) for k in theirs
               if abs(theirs[k] - ours[k]) > near[k]}
        if not far:
            return 0
    print("never the same:", far)
    return 1


def main():
    command, *args = sys.argv[1:]
    if command == "compare":
        with open(args[0], encoding="utf-8") as a, open(args[1], encoding="utf-8") as b:
            wanted, got = json.load(a), json.load(b)
        if wanted != got:
            print(wanted, got, sep="\n")
        return wanted != got
    if psutil is None:
        return 77
    if command == "random":
        seed = int(args[2]) if len(args) > 2 else random.randrange(10**6)
        print("seed", seed)
        return made_up(args[0], args[1], seed)
    return live(*args)


if __name__ == "__main__":
    sys.exit(main())
