/*
 * confine_calls - the system calls that a process gives up.
 *
 * A deny list: libraries choose their calls by version and machine, and a
 * program started by hand must not fail because of that.  The systemd units
 * list the permitted calls instead.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* Newer calls have the same number on every machine: io_uring, which would
 * bypass the filter, and next to it the new mount calls. */
enum { IO_URING_SETUP = 425, FSPICK = 433 };
enum { PIDFD_GETFD = 438, MOUNT_SETATTR = 442, X32 = 0x40000000 };

static const unsigned refused[] = {
#ifndef CONFINE_REPORTS /* LeakSanitizer traces its own threads. */
	SYS_ptrace,
#endif
	SYS_mknodat, SYS_symlinkat,
#ifdef SYS_mknod
	SYS_mknod, SYS_symlink,
#endif
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, PIDFD_GETFD,
	SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, MOUNT_SETATTR,
	SYS_unshare, SYS_setns, SYS_swapon, SYS_swapoff, SYS_quotactl, SYS_acct,
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load,
	SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_reboot, SYS_syslog,
	SYS_add_key, SYS_request_key, SYS_keyctl, SYS_open_by_handle_at,
	SYS_fanotify_init, SYS_settimeofday, SYS_clock_settime, SYS_sethostname,
	SYS_setdomainname, SYS_vhangup,
#ifdef SYS_iopl
	SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib,
#endif
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
	/* See EXECUTING. */
	SYS_execve, SYS_execveat, SYS_setuid, SYS_setgid, SYS_setreuid,
	SYS_setregid, SYS_setresuid, SYS_setresgid, SYS_setgroups
};
/* The last EXECUTING entries are not refused when programs are executed: these
 * may set their user id, if only to the same value. */
enum { REFUSED = sizeof(refused) / sizeof(refused[0]), EXECUTING = 9 };

#ifdef ARCH
static const struct sock_filter head[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, IO_URING_SETUP, 0, 2),
	BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FSPICK, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
};
enum { HEAD = sizeof(head) / sizeof(head[0]) };

int
confine_calls(bool may_execute)
{
	struct sock_filter code[HEAD + 2 * REFUSED + 1];
	unsigned short n = 0;
	struct sock_fprog program = { .filter = code };

	while (n < HEAD) {
		code[n] = head[n];
		n++;
	}
	for (unsigned i = 0; i < REFUSED - (may_execute ? EXECUTING : 0); i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, refused[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(
		    BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[n++] =
	    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = n;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
int
confine_calls(bool may_execute)
{
	(void)may_execute;
	errno = ENOSYS;
	return -1;
}
#endif
