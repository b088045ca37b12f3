// The launcher in Python, which has posix_spawn: nothing of it is copied for a start, so its size does not matter.

import { constants as os } from 'node:os';
import { LINK_FD } from './launcher-link.js';

const { ENOENT, ENOTDIR, EACCES, ENOEXEC } = os.errno;

/**
 * See `launcher-link.ts` for what it is asked and what it says. It needs Python 3.8, and nothing but modules that are part
 * of the interpreter. What it is told of the end of a child is written into a pipe by the interpreter's own signal handler, so
 * none is missed between a look and the wait.
 */
export const PYTHON_LAUNCHER = `
import posix, select, _signal, gc

def exit_now(code):
    posix._exit(code)

try:
    posix.posix_spawn('/', ['/'], {}, setsid=True)
except NotImplementedError:
    exit_now(1)
except OSError:
    pass
if posix.fork():
    exit_now(0)

gc.disable()
LINK = ${LINK_FD}
NOTHING = posix.open('/dev/null', posix.O_RDONLY)
posix.dup2(NOTHING, 0, False)
for name in posix.listdir('/proc/self/fd'):
    if int(name) > 2 and int(name) not in (LINK, NOTHING):
        try:
            posix.close(int(name))
        except OSError:
            pass
posix.set_inheritable(LINK, False)
ROOT = posix.open('/', posix.O_PATH)
try:
    comm = posix.open('/proc/self/comm', posix.O_WRONLY)
    posix.write(comm, b'hawser-launcher')
    posix.close(comm)
except OSError:
    pass
for number in range(1, 32):
    if number not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(number, _signal.SIG_DFL)
WOKEN, wake = posix.pipe()
posix.set_blocking(WOKEN, False)
posix.set_blocking(wake, False)
_signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
_signal.signal(_signal.SIGCHLD, lambda number, frame: None)

ids = {}

def tell(letter, first, second):
    said = letter + first.to_bytes(4, 'little') + second.to_bytes(4, 'little')
    while said:
        said = said[posix.write(LINK, said):]

def open_end(path, flags):
    if path == b'/dev/null':
        return NOTHING
    fd = posix.open(path, flags | posix.O_NONBLOCK | posix.O_CLOEXEC)
    posix.set_blocking(fd, True)
    return fd

def places(program, path):
    if b'/' in program:
        return [program]
    return [folder + b'/' + program if folder else program for folder in path.split(b':')]

def spawn(argv, env, ends):
    actions = [(posix.POSIX_SPAWN_DUP2, end, fd) for fd, end in enumerate(ends)]
    found = places(argv[0], env.get(b'PATH', b'/bin:/usr/bin'))
    failure = OSError(${ENOENT}, '')
    for place in found:
        try:
            if len(found) > 1:
                posix.stat(place)
            return posix.posix_spawn(place, argv, env, file_actions=actions, setsid=True)
        except OSError as error:
            if error.errno == ${ENOEXEC}: # as execvp does with a script that does not say what runs it
                script = [b'/bin/sh', place, *argv[1:]]
                return posix.posix_spawn(b'/bin/sh', script, env, file_actions=actions, setsid=True)
            if error.errno not in (${ENOENT}, ${ENOTDIR}, ${EACCES}):
                raise
            failure = error
    raise failure

def start(id, cwd, source, out, err, unlink, mark, argc, *rest):
    id, argc = int(id), int(argc)
    ends = []
    try:
        for path, flags in ((source, posix.O_RDONLY), (out, posix.O_WRONLY), (err, posix.O_WRONLY)):
            ends.append(open_end(path, flags))
        env = {b'HAWSER_MARK': mark}
        for variable in rest[argc:]:
            name, _, value = variable.partition(b'=')
            env[name] = value
        posix.chdir(cwd)
        for name in unlink.split(b'\\n'):
            posix.unlink(name)
        pid = spawn(list(rest[:argc]), env, ends)
    except OSError as error:
        tell(b'F', id, error.errno or 0)
        return
    finally:
        posix.fchdir(ROOT)
        for fd in ends:
            if fd != NOTHING:
                posix.close(fd)
    ids[pid] = id
    tell(b'S', id, pid)

def make_fifos(id, *names):
    try:
        for name in names:
            posix.mkfifo(name, 0o600)
            posix.chmod(name, 0o600)
    except OSError as error:
        return tell(b'F', int(id), error.errno or 0)
    tell(b'M', int(id), 0)

def reap():
    while ids:
        pid, status = posix.waitpid(-1, posix.WNOHANG)
        if pid == 0:
            return
        id = ids.pop(pid, None)
        if id is not None:
            tell(b'E', id, status)

poll = select.poll()
poll.register(LINK, select.POLLIN)
poll.register(WOKEN, select.POLLIN)
held = b''
tell(b'R', 0, posix.getpid())
while True:
    for fd, _ in poll.poll():
        if fd == WOKEN:
            posix.read(WOKEN, 512)
            reap()
            continue
        got = posix.read(LINK, 65536)
        if not got:
            exit_now(0)
        held = held + got if held else got
        while len(held) >= 4:
            size = 4 + int.from_bytes(held[:4], 'little')
            if len(held) < size:
                break
            kind, *fields = held[4:size].split(b'\\0')
            held = held[size:]
            if kind == b'M':
                make_fifos(*fields)
            else:
                start(*fields)
`;
