#!/usr/bin/python3
"""Judges what the agent says of recorded hosts: an implementation of its own.

  judge.py build TO              make every host below TO: a folder each, with
                                 `args`, the options of its agent
  judge.py change TO             put what a host has in `after` in place
  judge.py compare TO LONG       compare LONG (dump --format long) with them
  judge.py usage TO JSON         compare JSON (stats usage) with their processors

What psutil reads is psutil's (PROCFS_PATH is the host); the rest is read here by
the documents: proc(5); of the kernel filesystems/proc.rst, admin-guide/iostats.rst,
admin-guide/cgroup-v2.rst, accounting/psi.rst, scheduler/sched-stats.rst, and
include/linux/vm_event_item.h for the names of vmstat.  None is "not known".

A host is a folder here: `SOURCE` says where it is from, `proc` and `cgroup` are
what the agent reads, `sys` lists the paths of /sys that exist (and what they
contain, after a blank), `options` are
options of the agent, `after` replaces files while it runs.  Large hosts are made.
SPDX-License-Identifier: MIT
"""
import csv
import collections
import glob
import json
import os
import random
import re
import shutil
import sys
import warnings

import psutil

HERE = os.path.dirname(os.path.abspath(__file__))
KIB = 1024
PAGE = os.sysconf('SC_PAGESIZE')
# psutil warns of what a host has not; here that is not known, and not 0.
warnings.simplefilter('ignore')
GROUPS = 'cpu cpus memory load vmstat pressure schedstat=200ms network cgroup process=200ms'.split()
WITH_SYS = 'disk perf filesystem=200ms'.split()
# Where Slurm, Docker and Podman put their groups.
JOBS = ('system.slice/*slurmstepd.scope/job_*', 'system.slice/*slurmstepd.scope/s[0-9A-Z]*',
        'system.slice/docker-*.scope', 'docker/*', 'machine.slice/libpod-*.scope')


# ---- hosts that are made

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


def make_epyc_480(to):
    """480 processors: a line of interrupts of 60 KiB, masks of 15 words."""
    r = random.Random(480)
    rows = [[r.randrange(1, 10**8) for _ in range(8)] + [0, 0] for _ in range(480)]
    write(to + '/proc/stat', 'cpu  %s\n' % ' '.join(str(sum(c)) for c in zip(*rows)) +
          ''.join('cpu%d %s\n' % (i, ' '.join(map(str, row))) for i, row in enumerate(rows)) +
          'intr 99 ' + '0 ' * 30000 + '\nctxt 123456789012\nbtime 1700000000\nprocesses 987654\nprocs_running 481\nprocs_blocked 7\n')
    write(to + '/proc/meminfo', 'MemTotal:       3170000000 kB\nMemFree:        2000000001 kB\nMemAvailable:   2500000002 kB\n'
          'Buffers:             777 kB\nCached:         500000003 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n'
          'Dirty:             54321 kB\nShmem:          100000004 kB\nSReclaimable:    30000005 kB\nSUnreclaim:      40000006 kB\n')
    write(to + '/proc/loadavg', '479.53 470.01 466.66 481/9999 4194303\n')
    write(to + '/proc/schedstat', 'version 17\ntimestamp 4294967290\n' + ''.join(
        'cpu%d 0 0 1 2 %d %d %d %d %d\n' % (i, r.randrange(10**6, 10**7), r.randrange(10**6), r.randrange(10**15), r.randrange(10**13), r.randrange(10**9)) +
        ''.join('domain%d %s %s %s\n' % (d, name, ','.join(['ffffffff'] * 15), ' '.join(str(r.randrange(10**6)) for _ in range(45)))
                for d, name in enumerate(('SMT', 'MC', 'PKG', 'NUMA'))) for i in range(480)))
    group = to + '/cgroup/system.slice/slurmstepd.scope/job_480/'
    write(group + 'cpu.stat', 'usage_usec 98765432109876\nuser_usec 98765432100000\nsystem_usec 9876\n')
    write(group + 'memory.current', '3000000000000\n')
    write(group + 'memory.peak', '3100000000000\n')
    write(group + 'pids.current', '960\n')
    write(group + 'cgroup.procs', ''.join('%d\n' % p for p in range(5000, 5480)))
    for p in range(5000, 5480):
        write('%s/proc/%d/stat' % (to, p), '%d (rank %d of 480) R 1 5000 5000 0 -1 4194304 1 0 0 0 %d 3 0 0 20 0 2 0 99 4096 %d 18446744073709551615\n' %
              (p, p % 3, p, p))
    write(to + '/proc/net/dev', 'a\nb\n    lo: 1 2 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n')
    write(to + '/sys', '')


def make_interfaces_300(to):
    """A hypervisor: 2 physical interfaces in a bond, 300 of guests; 100 disks."""
    r = random.Random(300)
    names = ['lo', 'eno1', 'eno2', 'bond0', 'vmbr0'] + ['tap%di0' % i for i in range(150)] + ['fwpr%dp0' % i for i in range(150)]
    write(to + '/proc/net/dev', 'a\nb\n' + ''.join('%6s: %d %d 1 2 0 0 0 0 %d %d 3 4 0 0 0 0\n' % (
        n, r.randrange(10**12), r.randrange(1, 10**6) if n != 'tap7i0' else 0, r.randrange(10**12), r.randrange(1, 10**6) if n != 'tap7i0' else 0) for n in names))
    disks = ['sd' + a + b for a in ('', 'a', 'b', 'c') for b in 'abcdefghijklmnopqrstuvwxyz'][:100]
    write(to + '/proc/diskstats', ''.join('8 %d %s%s %s\n' % (i, d, p, ' '.join(str(r.randrange(10**9)) for _ in range(17)))
                                          for i, d in enumerate(disks) for p in ('', '1', '9')))
    write(to + '/proc/stat', 'cpu  4 0 3 2 1 0 0 0 0 0\ncpu0 4 0 3 2 1 0 0 0 0 0\nctxt 5\nprocesses 6\nprocs_running 1\nprocs_blocked 0\n')
    write(to + '/proc/meminfo', 'MemTotal: 1000000 kB\nMemFree: 1000 kB\nMemAvailable: 2000 kB\nBuffers: 1 kB\nCached: 2000 kB\nShmem: 3 kB\nSReclaimable: 4 kB\n')
    write(to + '/proc/loadavg', '0.00 0.01 0.05 1/100 999\n')
    write(to + '/sys', ''.join('block/%s\nblock/%s/device\n' % (d, d) for d in disks) + ''.join('class/net/%s\n' % n for n in names) +
          'class/net/eno1/device\nclass/net/eno2/device\nclass/net/eno1/master\nclass/net/eno2/master\n')


MADE = {'epyc-480': make_epyc_480, 'interfaces-300': make_interfaces_300}


def stored():
    return sorted(n for n in os.listdir(HERE) if os.path.exists(os.path.join(HERE, n, 'SOURCE')))


def build(to):
    for name in stored() + sorted(MADE):
        host = os.path.join(to, name)
        if name in MADE:
            MADE[name](host)
        else:
            shutil.copytree(os.path.join(HERE, name), host, symlinks=True)
        args = '--proc %s/proc --cgroup-root %s/cgroup' % (host, host)
        groups = list(GROUPS)
        os.makedirs(host + '/cgroup', exist_ok=True)
        if os.path.exists(host + '/sys'):
            with open(host + '/sys', 'rb') as f:
                for line in f.read().splitlines():
                    path, _, content = line.partition(b' ')
                    path = os.path.join(host.encode(), b'sys.d', path)
                    if content:
                        with open(path, 'wb') as file:
                            file.write(content + b'\n')
                    else:
                        os.makedirs(path, exist_ok=True)
            os.makedirs(host + '/sys.d', exist_ok=True)
            args += ' --sys %s/sys.d' % host
            groups += WITH_SYS
        if os.path.exists(host + '/options'):
            args += ' ' + open(host + '/options').read().strip()
        write(host + '/args', '%s --metric-groups %s\n' % (args, ','.join(groups)))


def change(to):
    for name in stored():
        before, after = os.path.join(to, name, 'proc'), os.path.join(to, name, 'after', 'proc')
        for path in glob.glob(after + '/**', recursive=True):
            if os.path.isfile(path):
                # In place, as the kernel does: the agent has the file open.
                with open(before + path[len(after):], 'r+b') as f, open(path, 'rb') as new:
                    f.write(new.read())
                    f.truncate()


# ---- what is known of a host

def read(*parts):
    """The bytes of a file; None: there is none."""
    try:
        with open(os.path.join(*parts), 'rb') as f:
            return f.read()
    except OSError:
        return None


def pairs(data, colon=b''):
    """The first word of each line and the number behind it."""
    found = {}
    for line in (data or b'').splitlines():
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            found[words[0].rstrip(colon or None).decode('utf-8', 'replace')] = int(words[1])
    return found


def add(*values):
    return None if None in values else sum(values)


def escaped(name):
    """A name of bytes as poolscope-agent(8) says: blanks, and what is not UTF-8, in octal."""
    try:
        name.decode()
        high = False
    except UnicodeDecodeError:
        high = True
    return b''.join(b'\\%03o' % c if c <= 0x20 or c == 0x7f or (high and c >= 0x80) else bytes([c]) for c in name).decode()


class Host:
    def __init__(self, path):
        self.path = path
        self.proc = path + '/proc'
        self.foreign = os.path.islink(self.proc + '/net')
        self.sys = path.encode() + b'/sys.d'
        self.has_sys = os.path.exists(self.sys)
        self.stat = (read(self.proc, 'stat') or b'').decode().splitlines()
        self.groups = {}
        boot = (read(self.proc, 'sys/kernel/random/boot_id') or b'').decode().replace('-', '')
        self.boot = int(boot[:12], 16) if boot else None
        self.psutil_checked = 0

    def in_sys(self, kind, name, rest=b''):
        return os.path.exists(os.path.join(self.sys, kind, name.replace(b'/', b'!')) + rest)

    def put(self, group, boot=True, **metrics):
        self.groups[group] = metrics
        if boot:
            self.groups[group]['poolscope.boot'] = self.boot

    def agree(self, what, ours, theirs):
        """psutil has this number, too."""
        if ours != theirs:
            sys.exit('the judge differs from psutil: %s %s: %r, %r' % (self.path, what, ours, theirs))
        self.psutil_checked += 1

    # proc(5): user, nice, system, idle, iowait, irq, softirq, steal, guest, guest_nice
    STATES = 'user nice system idle iowait interrupt softirq steal'.split()

    def times(self, words):
        values = [int(w) for w in words[:8]] + [None] * (8 - len(words[:8]))
        return {'system.cpu.time.' + state: v for state, v in zip(self.STATES, values)}

    def processors(self):
        self.sum, self.each, other = None, {}, {}
        for line in self.stat:
            word, *rest = line.split()
            if word == 'cpu':
                self.sum = rest
            elif word.startswith('cpu'):
                self.each[int(word[3:])] = rest
            elif word in ('ctxt', 'processes', 'procs_running', 'procs_blocked'):
                other[word] = int(rest[0])
        self.put('cpu', **self.times(self.sum), **{
            'system.cpu.logical.count': len(self.each), 'system.cpu.context_switches': other.get('ctxt')})
        for number, rest in self.each.items():
            self.put('cpu/%d' % number, **self.times(rest))
        self.agree('processors', len(self.each), len(psutil.cpu_times(percpu=True)))
        for ours, theirs in [(self.sum, psutil.cpu_times())] + list(zip(self.each.values(), psutil.cpu_times(percpu=True))):
            for i, state in enumerate(('user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal')):
                self.agree(state, int(ours[i]), round(getattr(theirs, state) * os.sysconf('SC_CLK_TCK')))
        load = read(self.proc, 'loadavg').split()
        self.put('load', **{
            'system.cpu.load_average.1m': float(load[0]), 'system.cpu.load_average.5m': float(load[1]),
            'system.cpu.load_average.15m': float(load[2]), 'system.process.count.running': other.get('procs_running'),
            'system.process.count.blocked': other.get('procs_blocked'), 'system.thread.count': int(load[3].split(b'/')[1]),
            'system.process.created': other.get('processes')})

    def memory(self):
        kib = pairs(read(self.proc, 'meminfo'), b':')
        m = collections.defaultdict(lambda: None, {k: v * KIB for k, v in kib.items()})
        cached = add(m['Cached'], m['SReclaimable'], None if m['Shmem'] is None else -m['Shmem'])
        rest = add(m['MemFree'], m['Buffers'], cached)
        self.put('memory', boot=False, **{
            'system.memory.limit': m['MemTotal'], 'system.memory.usage.used': None if rest is None else m['MemTotal'] - rest,
            'system.memory.usage.free': m['MemFree'], 'system.memory.usage.buffers': m['Buffers'],
            'system.memory.usage.cached': cached, 'system.linux.memory.available': m['MemAvailable'],
            'system.linux.memory.slab.reclaimable': m['SReclaimable'], 'system.linux.memory.slab.unreclaimable': m['SUnreclaim'],
            'system.memory.shared': m['Shmem'], 'system.linux.memory.dirty': m['Dirty'],
            'system.paging.usage.used': add(m['SwapTotal'], None if m['SwapFree'] is None else -m['SwapFree']),
            'system.paging.usage.free': m['SwapFree']})
        theirs = psutil.virtual_memory()
        for name, field in ('MemTotal', 'total'), ('MemFree', 'free'), ('Buffers', 'buffers'), ('Shmem', 'shared'), ('MemAvailable', 'available'):
            if m[name] is not None:
                self.agree(name, m[name], getattr(theirs, field))
        if m['SwapTotal'] is not None:
            self.agree('swap', (m['SwapTotal'] - m['SwapFree'], m['SwapFree']), psutil.swap_memory()[1:3])
        self.memory_percent = theirs.percent

    def kernel(self):
        v = pairs(read(self.proc, 'vmstat'))

        def pages(what, who):
            """Before 4.8 there is a line for each zone."""
            if what + who in v:
                return v[what + who]
            zones = [v[what + who + '_' + z] for z in ('dma', 'dma32', 'normal', 'high', 'movable') if what + who + '_' + z in v]
            return sum(zones) if zones else None

        def by_all(what):
            # Reclaim of khugepaged has its own lines since 6.2, that on request since 6.15.
            return add(pages(what, 'kswapd'), pages(what, 'direct'), pages(what, 'khugepaged') or 0, pages(what, 'proactive') or 0)
        if v:
            minor = add(v.get('pgfault'), -v['pgmajfault'] if 'pgmajfault' in v else None)
            self.put('vmstat', **{
                'system.paging.faults.minor': minor, 'system.paging.faults.major': v.get('pgmajfault'),
                'system.paging.operations.in': v.get('pswpin'), 'system.paging.operations.out': v.get('pswpout'),
                'system.linux.memory.scanned': by_all('pgscan_'), 'system.linux.memory.reclaimed': by_all('pgsteal_'),
                'system.linux.memory.reclaimed.direct': pages('pgsteal_', 'direct'),
                'system.linux.memory.compaction_stalls': v.get('compact_stall'),
                'system.linux.memory.oom_kills': v.get('oom_kill'), 'system.linux.memory.numa_migrated': v.get('numa_pages_migrated')})
            if 'pgscan_file' in v:
                # The kernel counts the same pages by their kind.
                self.agree('scanned', by_all('pgscan_'), v['pgscan_anon'] + v['pgscan_file'])
                self.agree('reclaimed', by_all('pgsteal_'), v['pgsteal_anon'] + v['pgsteal_file'])
        known = {w: self.waited(read(self.proc, 'pressure', w)) for w in ('cpu', 'memory', 'io')}
        if any(known.values()):
            self.put('pressure', **{'system.linux.pressure.%s.%s' % (w, kind): known[w].get(kind)
                                    for w, kind in (('cpu', 'some'), ('memory', 'some'), ('memory', 'full'), ('io', 'some'), ('io', 'full'))})
        self.scheduler()

    @staticmethod
    def waited(data):
        return {line.split()[0].decode(): int(line.rsplit(b'total=', 1)[1]) for line in (data or b'').splitlines()}

    def scheduler(self):
        """Of a processor: 5 wake-ups, 6 of these here, 7 run, 8 waited, 9 slices.  Of a domain: for each of
        three kinds of idleness 8 numbers, of which the 5th are the tasks moved; from version 17 on 11, the 8th."""
        data = read(self.proc, 'schedstat')
        if data is None:
            return
        version, wakeups, run, wait, slices, moved = None, 0, 0, 0, 0, 0
        for words in (line.decode().split() for line in data.splitlines()):
            if words[0] == 'version':
                version = int(words[1])
            elif words[0].startswith('cpu'):
                n = [None] + [int(w) for w in words[1:]]
                wakeups, run, wait, slices = wakeups + n[5] - n[6], run + n[7], wait + n[8], slices + n[9]
            elif words[0].startswith('domain') and version >= 17:
                n = [None] + [int(w) for w in words[3:]]
                moved += n[8] + n[19] + n[30]
            elif words[0].startswith('domain'):
                n = [None] + [int(w) for w in words[2:]]
                moved += n[5] + n[13] + n[21]
        self.put('schedstat', **{
            'system.linux.scheduler.run_time': run, 'system.linux.scheduler.run_delay': wait,
            'system.linux.scheduler.timeslices': slices, 'system.linux.scheduler.remote_wakeups': wakeups,
            'system.linux.scheduler.migrations': moved})

    # iostats.rst: reads, merged, sectors, ms; writes, merged, sectors, ms; in progress, ms, weighted ms
    DISK = ('operations.read merged.read io.read operation_time.read operations.write merged.write io.write '
            'operation_time.write pending_operations io_time weighted_io_time').split()

    def disks(self):
        lines = [line.split() for line in (read(self.proc, 'diskstats') or b'').splitlines()]
        self.whole = {}
        for words in lines:
            if self.in_sys(b'block', words[2]):
                self.whole[words[2]] = [int(w) for w in words[3:14]]
        for name in list(self.whole):
            # nvme0c1n1 is a path of nvme0n1; since 6.0 or so the disk counts, too.
            front, c, back = name.partition(b'c')
            path, n, space = back.partition(b'n')
            if name.startswith(b'nvme') and c and path.isdigit() and self.whole.get(front + b'n' + space, [0])[0] > 0:
                del self.whole[name]
        for name, n in self.whole.items():
            if self.in_sys(b'block', name, b'/device'):
                self.put('disk/' + escaped(name), **{
                    'system.disk.' + metric: value * 512 if metric.startswith('io.') else value for metric, value in zip(self.DISK, n)})
        if lines:
            theirs = psutil.disk_io_counters(perdisk=True, nowrap=False)
            for name, n in self.whole.items():
                self.agree('disk', (n[0], n[4], n[2] * 512, n[6] * 512, n[3], n[7], n[1], n[5], n[9]), tuple(theirs[name.decode()]))

    def interfaces(self):
        data = read(self.proc, '1/net/dev' if self.foreign else 'net/dev') or b''
        self.network, used = {}, []
        for line in data.splitlines()[2:]:
            name, _, numbers = line.rpartition(b':')
            n = [int(w) for w in numbers.split()]
            name = name.strip(b' ')
            self.network[name] = n
            if name != b'lo' and not (name.startswith(b'veth') and len(name) > 4) and (n[1] or n[9]):
                physical = None
                if self.has_sys and self.in_sys(b'class/net', name):
                    # ABI/testing/sysfs-class-net: physical interfaces have the same ifindex and iflink; those
                    # of InfiniBand (type 32) that have not are partitions, which count for themselves (ipoib.rst).
                    path = os.path.join(self.sys, b'class/net', name)
                    physical = int(self.in_sys(b'class/net', name, b'/device') and not self.in_sys(b'class/net', name, b'/master/device') and
                                   (read(path, b'iflink') in (None, b'0\n', read(path, b'ifindex')) or read(path, b'type') == b'32\n'))
                used.append((2 if physical == 1 else 1 if physical is None else 0, n[0] + n[8], name, physical))
        for _, _, name, physical in sorted(used, reverse=True)[:128]:
            n = self.network[name]
            self.put('network/' + escaped(name), **{
                'system.network.io.receive': n[0], 'system.network.packet.count.receive': n[1],
                'system.network.errors.receive': n[2], 'system.network.packet.dropped.receive': n[3],
                'system.network.io.transmit': n[8], 'system.network.packet.count.transmit': n[9],
                'system.network.errors.transmit': n[10], 'system.network.packet.dropped.transmit': n[11],
                'system.network.physical': physical})
        if not self.foreign:
            for name, theirs in psutil.net_io_counters(pernic=True, nowrap=False).items():
                n = self.network[os.fsencode(name)]
                self.agree('interface', (n[8], n[0], n[9], n[1], n[2], n[10], n[3], n[11]), tuple(theirs))

    def perf(self, changed):
        """The older monitor's: percent, MiB."""
        others = [n for name, n in self.network.items() if name != b'lo']
        lo = self.network.get(b'lo', [0] * 16)
        self.put('perf', boot=False, **{
            'mem_percent': self.memory_percent, 'system.cpu.logical.count': len(self.each),
            'disk_io_read_mb': sum(n[2] for n in self.whole.values()) * 512 / 2**20,
            'disk_io_write_mb': sum(n[6] for n in self.whole.values()) * 512 / 2**20,
            'net_io_lo_sent_mb': lo[8] / 2**20, 'net_io_lo_recv_mb': lo[0] / 2**20,
            'net_io_ext_sent_mb': sum(n[8] for n in others) / 2**20, 'net_io_ext_recv_mb': sum(n[0] for n in others) / 2**20})
        # The disk is this machine's; a change of the processors gives it percents.
        self.ignored = {('perf', 'disk_usage_percent')}
        for which in 'avg', 'min', 'max':
            if changed:
                self.ignored.add(('perf', 'cpu_pct_per_cpu_' + which))
            else:
                self.groups['perf']['cpu_pct_per_cpu_' + which] = 0.0

    def jobs(self):
        root, patterns = self.path + '/cgroup', JOBS
        options = (read(self.path, 'options') or b'').decode().split()
        if '--cgroups' in options:
            patterns = options[options.index('--cgroups') + 1].split(',')
        by_name = collections.defaultdict(lambda: [0, 0, 0])
        for group in sorted({g for p in patterns for g in glob.glob(os.path.join(root, p))}):
            cpu = pairs(read(group, 'cpu.stat'))
            if not cpu:
                continue
            pids = [int(p) for f in glob.glob(group + '/**/cgroup.procs', recursive=True) for p in read(f).split()]
            number = lambda name: int(read(group, name)) if read(group, name) is not None else None
            events = pairs(read(group, 'memory.events'))
            io = read(group, 'io.stat')
            counted = collections.Counter()
            for word in (io or b'').split():
                key, _, value = word.decode().partition('=')
                if value.isdigit():
                    counted[key] += int(value)
            name = os.path.relpath(group, root)
            for pid in pids:
                environ = (read(self.proc, str(pid), 'environ') or b'').split(b'\0')
                for entry in environ:
                    if entry.startswith(b'SLURM_JOB_ID='):
                        name = os.path.join(os.path.dirname(name), 'job_' + entry[13:].decode())
                stat = None if self.foreign else read(self.proc, str(pid), 'stat')
                if stat is not None:
                    # proc(5): the name is between the first and the last parenthesis; state is the 3rd field.
                    fields = [None] * 3 + stat[stat.rindex(b')') + 2:].split()
                    entry = by_name[escaped(stat[stat.index(b'(') + 1:stat.rindex(b')')])]
                    entry[0] += 1
                    entry[1] += int(fields[20])
                    entry[2] += int(fields[24]) * PAGE
            waits = {w: self.waited(read(group, w + '.pressure')).get('some') for w in ('cpu', 'memory', 'io')}
            self.put('cgroup/' + name, **{
                'container.cpu.time': cpu.get('usage_usec'), 'container.cpu.time.user': cpu.get('user_usec'),
                'container.cpu.time.system': cpu.get('system_usec'), 'container.cpu.time.throttled': cpu.get('throttled_usec'),
                'container.memory.usage': number('memory.current'), 'container.memory.peak': number('memory.peak'),
                'container.memory.oom_kills': events.get('oom_kill'),
                'container.disk.io.read': None if io is None else counted['rbytes'], 'container.disk.io.write': None if io is None else counted['wbytes'],
                'container.disk.operations.read': None if io is None else counted['rios'], 'container.disk.operations.write': None if io is None else counted['wios'],
                'container.process.count': number('pids.current'),
                **{'container.pressure.%s.some' % w: waits[w] for w in waits}})
        for name, (count, threads, resident) in by_name.items():
            self.put('process/' + name, boot=False, **{'process.cpu.utilization': 0.0, 'process.memory.usage': resident,
                                                       'process.thread.count': threads, 'process.count': count})

    def file_systems(self):
        """Those of the host that this machine happens to have, by their devices."""
        own = {line.split()[2]: line.split()[4] for line in open('/proc/self/mountinfo')}
        mounts = [line.split() for line in (read(self.proc, '1' if self.foreign else 'self', 'mountinfo') or b'').decode().splitlines()]
        points = collections.defaultdict(list)
        for m in mounts:
            if m[2] in own and m[m.index('-') + 1] in ('ext4', 'xfs', 'btrfs', 'vfat'):
                points[m[2]].append(m[4])
        for device, names in points.items():
            fs = os.statvfs(own[device])
            group = 'filesystem' + min(names, key=lambda n: (len(n), n))
            self.put(group, boot=False, **{'system.filesystem.limit': fs.f_blocks * fs.f_frsize})
            self.ignored |= {(group, 'system.filesystem.' + m) for m in
                             ('usage.used', 'usage.free', 'usage.reserved', 'inodes.used', 'inodes.free')}

    def know(self, changed=False):
        psutil.PROCFS_PATH = self.proc
        self.ignored = set()
        self.processors()
        self.memory()
        self.kernel()
        self.interfaces()
        if self.has_sys:
            self.disks()
            self.perf(changed)
            self.file_systems()
        self.jobs()
        return self


# ---- the comparison

def samples(path):
    """By node and group, in the order of time: metric to value; '' is the time."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    with open(path, newline='', errors='surrogateescape') as f:
        for r in csv.DictReader(f):
            sample = found[r['node'], r['group']][int(r['time_ns'])]
            sample[r['metric']] = r['value']
            sample[''] = int(r['time_ns'])
    return {key: [by_time[t] for t in sorted(by_time)] for key, by_time in found.items()}


def same(wanted, got):
    if wanted is None:
        return got in (None, '')
    if got in (None, ''):
        return False
    if isinstance(wanted, float):
        return abs(float(got) - wanted) <= 1e-12 * abs(wanted)
    return got == str(wanted)


class Count:
    values = unknown = wrong = by_psutil = 0
    metrics = set()


def compare_group(node, group, wanted, got, host):
    if 'poolscope.boot' in got:
        boot = int(got['poolscope.boot'] or 0)
        got = dict(got, **{'poolscope.boot': str(boot & (1 << 48) - 1) if boot & (1 << 48) - 1 else ''})
    for metric in sorted(wanted.keys() | got.keys() - {''}):
        if (group, metric) in host.ignored:
            continue
        Count.values += 1
        Count.unknown += wanted.get(metric) is None
        Count.metrics.add(metric)
        if not same(wanted.get(metric), got.get(metric)):
            Count.wrong += 1
            print('%s: %s %s: %s wanted, %s sampled' % (node, group, metric, wanted.get(metric, 'none'), got.get(metric, 'none') or 'unknown'))


def compare_host(node, host, found, which):
    """`which`: 0 for the first samples, -1 for the last ones."""
    seen = {g for n, g in found if n == node}
    for group in sorted(seen | host.groups.keys()):
        wanted = host.groups.get(group)
        if wanted is None and (which == 0 or found[node, group][-1][''] < found[node, 'cpu'][-2]['']):
            continue  # it comes later, or went
        if wanted is None or group not in seen:
            # Nothing of it is known: then it may be absent.
            if wanted is None or any(v is not None for k, v in wanted.items() if k != 'poolscope.boot'):
                Count.wrong += 1
                print('%s: %s: %s' % (node, group, 'not wanted' if wanted is None else 'is not sampled'))
            continue
        compare_group(node, group, wanted, found[node, group][which], host)


def compare_epoch(node, before, after, found):
    """Counters of processors that are others, or that grew by more than these can, are not continued."""
    grown = sum(max(0, int(b) - int(a)) for a, b in zip(before.sum[:8], after.sum[:8]))
    jumps = before.each.keys() != after.each.keys() or grown > 600 * 100 * len(after.each)
    first, last = (int(found[node, 'cpu'][i]['poolscope.boot']) >> 48 for i in (0, -1))
    Count.values += 1
    if jumps != (first != last):
        Count.wrong += 1
        print('%s: the epoch is %d, then %d' % (node, first, last))


def compare(to, path):
    found = samples(path)
    names = sorted(stored() + list(MADE))
    for name in names:
        changes = os.path.exists(os.path.join(HERE, name, 'after'))
        last = Host(os.path.join(to, name)).know(changes)
        compare_host(name, last, found, -1)
        Count.by_psutil += last.psutil_checked
        if changes:
            before = os.path.join(to, name, 'before')
            shutil.copytree(os.path.join(HERE, name), before, symlinks=True)
            os.symlink('../sys.d', before + '/sys.d')
            first = Host(before).know()
            compare_host(name, first, found, 0)
            compare_epoch(name, first, last, found)
    print('%d hosts, %d metrics, %d values, %d of them unknown; %d numbers of the judge are psutil\'s, too; %d wrong' %
          (len(names), len(Count.metrics), Count.values, Count.unknown, Count.by_psutil, Count.wrong))
    sys.exit(Count.wrong > 0)


def usage(to, path):
    """No host used, or had to spare, more than its processors."""
    wrong = False
    for row in json.load(open(path))['rows']:
        trees = [os.path.join(to, row['node'], t, 'proc/stat') for t in ('', 'before')]
        most = max(len(re.findall(rb'^cpu\d', read(t) or b'', re.M)) for t in trees)
        for name in 'cpu_hours_used', 'cpu_hours_unused':
            # A tenth of a second late.
            if row[name] is not None and not 0 <= row[name] <= ((row['seconds'] or 0) + 0.1) * most / 3600:
                wrong = True
                print(row['node'], name, row[name], 'of', row['seconds'], 's')
    sys.exit(wrong)


if __name__ == '__main__':
    command, *arguments = sys.argv[1:]
    {'build': build, 'change': change, 'compare': compare, 'usage': usage}[command](*arguments)
