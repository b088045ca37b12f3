# The short way of "rex exec TARGET -- COMMAND": by the keeper, without the 30 ms that Node takes to start.
#
# It only passes bytes on. Whatever is not plain sailing is left to Node, before anything has run; so this may be missing,
# and so may Perl. No module is loaded: each takes longer than all of this. What is said is in keeper/plain-words.ts.

my ($rex, @args) = @ARGV;
my (undef, $target, undef, @argv) = @args;
my ($EINTR, $EAGAIN, $AF_UNIX, $SOCK_STREAM, $F_SETFL, $O_NONBLOCK) = (4, 11, 1, 1, 4, 04000);

sub otherwise { exec 'node', $rex, @args or print STDERR "rex: node cannot be started: $!\n"; exit 127 }

otherwise() if $^O ne 'linux' || $> != $< || !@argv || $target !~ /^[A-Za-z0-9_][A-Za-z0-9_.-]*\z/;

my ($base) = grep { defined && m{^/} } $ENV{XDG_RUNTIME_DIR}, $ENV{XDG_STATE_HOME},
  defined $ENV{HOME} ? "$ENV{HOME}/.local/state" : undef;
otherwise() if !defined $base;
my $folder = "$base/rex";
my @found = lstat $folder;
otherwise() if !@found || !-d _ || $found[4] != $< || $found[2] & 077;

my %volatile = map { $_ => 1 } qw(PWD OLDPWD SHLVL _ COLUMNS LINES HAWSER_MARK);
my @env = map { "$_=$ENV{$_}" } grep { !$volatile{$_} } keys %ENV;
my $all = join '', @env;
my $path = sprintf '%s/plain-%s-%x-%x', $folder, substr($target, 0, 16), unpack('%32C*', $all), length $all;
otherwise() if length $path > 107 || !-S $path;

my $cwd = readlink '/proc/self/cwd';
my @input = stat STDIN;
my $piped = @input && !-d _ && !(-f _ && -z _) && !(-c _ && $input[6] == 0x103) && !-t STDIN;

sub text { my $t = shift; $t =~ s/(["\\])/\\$1/g; $t =~ s/([\x00-\x1f])/sprintf '\\u%04x', ord $1/ge; qq("$t") }
sub list { '[' . join(',', map { text($_) } @_) . ']' }
my $hello = '{"want":"plain","alias":' . text($target) . ',"until":' . (time + 2) . '000,"env":' . list(@env)
  . ',"start":{"argv":' . list(@argv) . ($target eq 'local' ? ',"cwd":' . text($cwd) : '')
  . ($piped ? '' : ',"stdin":""') . "}}\n";
my $check = $hello;
otherwise() if !defined $cwd || !-d $cwd || !utf8::decode($check);

$SIG{PIPE} = 'IGNORE';
my @signals;
$SIG{$_} = sub { push @signals, $_[0] } for qw(INT TERM HUP);
socket S, $AF_UNIX, $SOCK_STREAM, 0 or otherwise();
connect S, pack('S Z*', $AF_UNIX, $path) or otherwise();
put(\*S, $hello);
# What it says is read also while it does not take what we say.
fcntl S, $F_SETFL, $O_NONBLOCK or otherwise();

my $unsent = '';
my ($held, $heard, $running, $asked, $leave, $leave_with) = ('', 0, 0, 0, 0, 0);
my $give_up = time + 4;
for (;;) {
  while (@signals) {
    my $signal = shift @signals;
    exit($signal eq 'INT' ? 130 : $signal eq 'TERM' ? 143 : 129) if !$running;
    exit 130 if ++$asked > 2;
    $unsent .= 'k' . ($asked > 1 ? 'KILL' : $signal) . "\n";
    ($leave, $leave_with) = (time + 5, $signal eq 'TERM' ? 143 : 129) if $signal ne 'INT' && !$leave;
  }
  exit $leave_with if $leave && time >= $leave;
  otherwise() if !$heard && time >= $give_up;
  my $reads = $running && $piped && $unsent eq '';
  my ($ready, $free) = ('', '');
  vec($ready, fileno S, 1) = 1;
  vec($ready, 0, 1) = 1 if $reads;
  vec($free, fileno S, 1) = 1 if $unsent ne '';
  next if select($ready, $free, undef, $leave || !$heard ? 0.5 : undef) <= 0;
  if ($reads && vec $ready, 0, 1) {
    my $got = sysread STDIN, my $bytes, 65536;
    if ($got) { $unsent = "i$got\n$bytes" }
    elsif (defined $got || ($! != $EINTR && $! != $EAGAIN)) { ($piped, $unsent) = (0, "c\n") }
  }
  if ($unsent ne '') {
    my $taken = syswrite S, $unsent;
    if (defined $taken) { substr($unsent, 0, $taken) = '' }
    elsif ($! != $EINTR && $! != $EAGAIN) { $unsent = '' } # its end is read
  }
  next if !vec $ready, fileno S, 1;
  my $got = sysread S, $held, 262144, length $held;
  next if !defined $got && ($! == $EINTR || $! == $EAGAIN);
  lost() if !$got;
  while ($held =~ /\A([a-z])(\d*)\n/) {
    my ($what, $number, $from) = ($1, $2, $+[0]);
    my $length = $what eq 'o' || $what eq 'e' ? $number : 0;
    last if length $held < $from + $length;
    if ($what eq 'h') { $heard = 1 }
    elsif ($what eq 'r') { $running = 1 }
    elsif ($what eq 'n') { otherwise() }
    elsif ($what eq 'x') { exit $number }
    elsif (!put($what eq 'o' ? \*STDOUT : \*STDERR, substr $held, $from, $length)) { exit 141 }
    substr($held, 0, $from + $length) = '';
  }
}

# False when nobody reads.
sub put {
  my ($to, $bytes) = @_;
  for (my $at = 0; $at < length $bytes;) {
    my $taken = syswrite $to, $bytes, length($bytes) - $at, $at;
    if (defined $taken) { $at += $taken }
    elsif ($! == $EAGAIN) { vec(my $free = '', fileno $to, 1) = 1; select undef, $free, undef, undef }
    elsif ($! != $EINTR) { return 0 }
  }
  return 1;
}

sub lost {
  otherwise() if !$heard;
  print STDERR qq(rex: the connection to "$target" was lost before the command had ended; what it was doing there is ended too\n);
  exit 1;
}
