// The launcher in Perl, which every Debian has: it forks, but is much smaller than we are.

import { constants } from 'node:fs';
import { constants as os } from 'node:os';
import { LINK_FD } from './launcher-link.js';

/** Not among Node's constants; the same on every architecture Node runs on under Linux. */
const O_CLOEXEC = 0o2000000;
const O_ASYNC = 0o20000;
const F_SETFD = 2;
const F_SETFL = 4;
const F_SETOWN = 8;
const SIG_BLOCK = 0;
const SIG_SETMASK = 2;
const WNOHANG = 1;

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const { SIGCHLD, SIGIO } = os.signals;
const { EAGAIN, EINTR } = os.errno;

/**
 * See `launcher-link.ts` for what it is asked and what it says. Of POSIX only the compiled part is loaded: the rest of it
 * would double what every fork has to copy. Both signals are blocked except in sigsuspend, so none is missed between a look
 * and the wait.
 */
export const PERL_LAUNCHER = `
package POSIX; require XSLoader; XSLoader::load('POSIX'); package main;
defined(my $forked = fork) or exit 1;
POSIX::_exit(0) if $forked;
# Not by $0: that would wipe out the mark, which lies behind it.
if (open my $name, '>', '/proc/self/comm') { syswrite $name, 'hawser-launcher' }
$^F = 2;
open STDIN, '<', '/dev/null' or exit 1;
opendir my $fds, '/proc/self/fd' or exit 1;
for (readdir $fds) { POSIX::close($_) if /^\\d+$/ && $_ > 2 && $_ != ${LINK_FD} && $_ != fileno $fds }
closedir $fds;
open LINK, '+<&=', ${LINK_FD} or exit 1;
fcntl LINK, ${F_SETFD}, 1 or exit 1;
my $none = POSIX::SigSet->new;
$SIG{CHLD} = $SIG{IO} = sub {};
POSIX::sigprocmask(${SIG_BLOCK}, POSIX::SigSet->new(${SIGCHLD}, ${SIGIO})) or exit 1;
fcntl LINK, ${F_SETOWN}, $$ + 0 or exit 1;
fcntl LINK, ${F_SETFL}, ${O_NONBLOCK | O_ASYNC} or exit 1;
my ($in, $block, %ids) = ('', '');
tell_host('R', 0, $$);

for (;;) {
  my $got = sysread LINK, $in, 65536, length $in;
  exit 0 if defined $got ? $got == 0 : $! != ${EAGAIN} && $! != ${EINTR};
  while (length $in >= 4) {
    my $size = 4 + unpack 'V', $in;
    last if length $in < $size;
    my ($kind, @fields) = split /\\0/, substr($in, 4, $size - 4), -1;
    $kind eq 'M' ? make_fifos(@fields) : start(@fields);
    substr($in, 0, $size) = '';
    reap();
  }
  reap();
  POSIX::sigsuspend($none) unless $got;
}

sub start {
  my ($id, $cwd, $from, $to, $errors, $unlink, $mark, $argc, @rest) = @_;
  sysopen IN, $from, ${O_RDONLY | O_NONBLOCK | O_CLOEXEC} or return refuse($id, $! + 0);
  fcntl IN, ${F_SETFL}, 0;
  sysopen OUT, $to, ${O_WRONLY | O_NONBLOCK | O_CLOEXEC} or return refuse($id, $! + 0);
  fcntl OUT, ${F_SETFL}, 0;
  sysopen ERR, $errors, ${O_WRONLY | O_NONBLOCK | O_CLOEXEC} or return refuse($id, $! + 0);
  fcntl ERR, ${F_SETFL}, 0;
  pipe FAILED, FAIL or return refuse($id, $! + 0);
  my @argv = splice @rest, 0, $argc;
  my $wanted = join "\\0", @rest;
  if ($wanted ne $block) {
    %ENV = ();
    for (@rest) { my $at = index $_, '='; $ENV{substr $_, 0, $at} = substr $_, $at + 1 }
    $block = $wanted;
  }
  $ENV{HAWSER_MARK} = $mark;
  unlink split /\\n/, $unlink;
  my $pid = fork;
  if (defined $pid && $pid == 0) {
    POSIX::setsid();
    POSIX::dup2(fileno IN, 0);
    POSIX::dup2(fileno OUT, 1);
    POSIX::dup2(fileno ERR, 2);
    POSIX::sigprocmask(${SIG_SETMASK}, $none);
    { no warnings; chdir $cwd and exec { $argv[0] } @argv; }
    syswrite FAIL, pack('V', $!);
    POSIX::_exit(127);
  }
  my $errno = $! + 0;
  return refuse($id, $errno) unless defined $pid;
  shut(*IN, *OUT, *ERR, *FAIL);
  my $why;
  while (!defined(sysread FAILED, $why, 4)) { last if $! != ${EINTR} }
  shut(*FAILED);
  if (length $why) {
    waitpid $pid, 0;
    return tell_host('F', $id, unpack 'V', $why);
  }
  $ids{$pid} = $id;
  tell_host('S', $id, $pid);
}

sub refuse {
  shut(*IN, *OUT, *ERR, *FAILED, *FAIL);
  tell_host('F', @_);
}

# Whoever is at the other end of a pipe waits for the last of this one. Perl counts the users of a number, and some were closed
# above without its knowing: those it would keep.
sub shut {
  for (@_) {
    my $fd = fileno $_;
    next unless defined $fd;
    close $_;
    POSIX::close($fd);
  }
}

sub make_fifos {
  my ($id, @names) = @_;
  for (@names) { POSIX::mkfifo($_, 0600) && chmod 0600, $_ or return tell_host('F', $id, $! + 0) }
  tell_host('M', $id, 0);
}

sub reap {
  while (%ids && (my $pid = waitpid -1, ${WNOHANG}) > 0) {
    my $id = delete $ids{$pid};
    tell_host('E', $id, $?) if defined $id;
  }
}

# The link does not wait when it is full; the host reads it as soon as it can, and reads on until we have said all.
sub tell_host {
  my $said = pack 'aVV', @_;
  while (length $said) {
    my $took = syswrite LINK, $said;
    if (defined $took) { substr($said, 0, $took) = '' }
    elsif ($! == ${EAGAIN}) { select undef, undef, undef, 0.001 }
    elsif ($! != ${EINTR}) { exit 1 }
  }
}
`;
