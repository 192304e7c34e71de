"""typed SHELL DIR LINE PATTERN: type a line, which ends with a tab, into an interactive
shell with the completions of DIR.  Print what it shows, once that has PATTERN."""
import os, pty, re, select, sys, time

shell, where, line, pattern = sys.argv[1:]
setup = {
    "bash": "PS1='> '; bind 'set bell-style none'; bind 'set show-all-if-ambiguous on'; for f in '%s'/*; do . $f; done" % where,
    "zsh": "PS1='> '; unsetopt beep prompt_sp; fpath=('%s' $fpath); autoload -Uz compinit; compinit -u -D" % where,
}[shell]
argv = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", COLUMNS="200", LINES="50")
    os.execvp(argv[0], argv)


def until(pattern, seconds):
    text, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                text += os.read(fd, 65536).decode("utf-8", "replace")
            except OSError:
                break
        if re.search(pattern, text):
            break
    return text


os.write(fd, (setup + "; echo read''y\n").encode())
until("ready", 60)
until("> ", 5)
os.write(fd, line.encode())
print(until(pattern, 20 * float(os.environ.get("SLOW", "2"))))
os.write(fd, b"\x15exit\n")
os.close(fd)
