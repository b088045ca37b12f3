// The guardian, in the language every machine has: it waits for its host to die, then ends what the host has left.

/** How long what the host has left may take to end by itself. */
export const GUARDIAN_GRACE_MS = 1000;

const ROUND_MS = 250;

/**
 * `sh <this script> <pattern of the mark> <host pid> <host start> <private dir>`. Its descriptor 3 is a pipe whose
 * other end only the host has. While the host lives, lines may come that name the leaders it knows (`pid:start …`, those
 * that are confined as `cpid:start`; the last line counts). Its end means that the host is gone, in whatever way. The script forks once, so that the
 * guardian is nobody's child.
 *
 * It looks for the same as `findTree`: carriers of the mark, holders of the host's pipes and the leaders named last,
 * then children and sessions of those; no detached process, unless it hangs below a confined one, and nothing older than
 * the host.
 */
export const GUARDIAN_SCRIPT = `
trap '' HUP INT QUIT TERM PIPE USR1 USR2
# What /proc tells of a process holds its name: no file of the folder we are in is to take the place of anything in it.
set -f
cd /
guard() {
  pattern=$1 host=$2 born=$3 dir=$4 known=' '
  newline='
'
  while read -r line <&3; do known=" $line "; done

  # Descriptors close some moments before a process is dead. A host that lives on has closed us on purpose.
  n=0
  while lives "$host" "$born"; do
    n=$((n + 1))
    [ $n -le 40 ] || exit 0
    nap 0.05
  done

  n=0
  freeze && kill -TERM $found
  kill -CONT $found
  while [ $n -lt ${GUARDIAN_GRACE_MS / ROUND_MS} ] && search; do
    n=$((n + 1))
    nap ${ROUND_MS / 1000}
  done
  n=0
  while [ $n -lt 100 ] && freeze; do
    kill -KILL $found
    n=$((n + 1))
    nap 0.02
  done
  case $dir in */hawser-*) rm -rf "$dir" ;; esac
}

nap() { sleep "$1" || sleep 1; }

# Sets ppid, sid and ticks from a stat line. The name in front of them may hold anything. False for the dead.
parse() {
  set -- \${1##*") "}
  [ $# -ge 20 ] || return 1
  case $2$4\${20} in *[!0-9]*) return 1 ;; esac
  case $1 in [ZXx]) [ "\${18}" -gt 1 ] || return 1 ;; esac
  ppid=$2 sid=$4
  shift 19
  ticks=$1
}

lives() { parse "$(cat "/proc/$1/stat")" && [ "$ticks" = "$2" ]; }

# Sets pids to those whose mark begins with the pattern. To grep a zero byte ends a line, so ^ is where an entry begins.
carriers() {
  pids=' '
  for file in $(set +f; grep -lsE -e "^HAWSER_MARK=$1" /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    pids="$pids\${file%/environ} "
  done
}

# The number is the first of its line: what a file is called, which stands behind it, is up to anybody.
holders() {
  ls -lq /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 | while read -r line; do
    line=\${line#* /proc/}
    case \${line#*/fd/[12] -> } in
    "$dir/"*) echo "\${line%%/*}" ;;
    esac
  done
}

# Who is stopped cannot fork, and stays the parent of its children while we look for them.
freeze() {
  search || return 1
  kill -STOP $found
  search
  kill -STOP $found
  search
}

search() {
  carriers '([^/]*~)?d_[0-9a-z]{26}(/|$)'
  detached=$pids
  carriers "$pattern/"
  own=$pids seeds=$pids
  case /$pattern/ in
  */c_??????????????????????????/*) confined=$own ;;
  *)
    carriers "$pattern/([^/]+/)*c_[0-9a-z]{26}(/|$)"
    confined=$pids
    ;;
  esac
  for pid in $(set +f; holders); do seeds="$seeds$pid "; done
  table=
  # One grep: the shell's own read takes a system call for each character. Its number is taken from the path: a name with a
  # line break in it could make a line that looks like somebody else's.
  stats=$(set +f; grep -aHs '' /proc/[0-9]*/stat)
  IFS=$newline
  set -- $stats
  unset IFS
  for line; do
    parse "$line" && [ "$ticks" -ge "$born" ] || continue
    pid=\${line#/proc/}
    table="$table \${pid%%/*}:$ppid:$sid:$ticks"
  done
  found= pids=' ' sessions=' ' cpids=' ' csessions=' ' grew=1
  while [ $grew = 1 ]; do
    grew=0 rest=
    for entry in $table; do
      pid=\${entry%%:*} ticks=\${entry##*:} entry=\${entry#*:}
      ppid=\${entry%%:*} sid=\${entry#*:}
      sid=\${sid%:*} entry=$pid:$entry
      case "$confined/$cpids/$csessions/$known" in
      *" $pid "*/*/*/* | */*" $ppid "*/*/* | */*/*" $sid "*/* | */*/*/*" c$pid:$ticks "*)
        cpids="$cpids$pid " csessions="$csessions$sid " name=c$pid:$ticks
        ;;
      *)
        # The host itself may run under a detached mark, and then its children carry it on: they are its own.
        case $own/$detached in
        *" $pid "*/*) ;;
        */*" $pid "*)
          rest="$rest $entry"
          continue
          ;;
        esac
        case "$seeds/$pids/$sessions/$known" in
        *" $pid "*/*/*/* | */*" $ppid "*/*/* | */*/*" $sid "*/* | */*/*/*" $pid:$ticks "*) name=$pid:$ticks ;;
        *)
          rest="$rest $entry"
          continue
          ;;
        esac
        ;;
      esac
      found="$found $pid" pids="$pids$pid " sessions="$sessions$sid " grew=1
      case $known in *" $name "*) ;; *) known="$known$name " ;; esac
    done
    table=$rest
  done
  [ -n "$found" ]
}

exec 2>/dev/null
guard "$@" &
`;
