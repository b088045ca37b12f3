// The guardian, in the language every machine has: it waits for its host to die, then ends what the host has left.

/** How long what the host has left may take to end by itself. */
export const GUARDIAN_GRACE_MS = 1000;

const GRACE_ROUNDS = GUARDIAN_GRACE_MS / 100;

/**
 * `sh <this script> <mark> <host pid> <host start> <private dir>`. Its descriptor 3 is a pipe whose
 * other end only the host has. While the host lives, lines may come that name the leaders it knows (`pid:start …`; the last
 * line counts). Its end means that the host is gone, in whatever way. The script forks once, so that the
 * guardian is nobody's child.
 *
 * It looks for the same as `findTree`: carriers of the mark, holders of the host's pipes and the leaders named last,
 * then children and sessions of those; no detached process, and nothing older than the host.
 */
export const GUARDIAN_SCRIPT = `
guard() {
  mark=$1 host=$2 born=$3 dir=$4 roster=
  trap '' HUP INT QUIT TERM PIPE USR1 USR2
  while read -r line <&3; do roster=$line; done

  # Descriptors close some moments before a process is dead. A host that lives on has closed us on purpose.
  n=0
  while lives "$host" "$born"; do
    n=$((n + 1))
    [ $n -le 40 ] || exit 0
    nap 0.05
  done

  n=0
  while [ $n -lt ${GRACE_ROUNDS} ] && search; do
    [ $n -gt 0 ] || kill -TERM $found
    n=$((n + 1))
    nap 0.1
  done
  n=0
  while [ $n -lt 100 ] && search; do
    kill -STOP $found
    search && kill -KILL $found
    n=$((n + 1))
    nap 0.02
  done
  case $dir in */hawser-*) rm -rf "$dir" ;; esac
}

nap() { sleep "$1" || sleep 1; }

# Sets state, ppid, sid and ticks of a process. The name in front of them may hold anything.
look() {
  line=
  read -r line <"/proc/$1/stat" || return 1
  set -- \${line##*") "}
  [ $# -ge 20 ] || return 1
  state=$1 ppid=$2 sid=$4
  shift 19
  ticks=$1
  case $state in [ZXx]) return 1 ;; esac
}

lives() { look "$1" && [ "$ticks" = "$2" ]; }

carriers() { grep -lsE -e "$1" /proc/[0-9]*/environ | cut -d / -f 3; }

holders() {
  ls -l /proc/[0-9]*/fd/1 /proc/[0-9]*/fd/2 | while read -r line; do
    case $line in
    *" -> $dir/"*)
      line=\${line##* /proc/}
      echo "\${line%%/*}"
      ;;
    esac
  done
}

leaders() {
  for entry in $roster; do
    lives "\${entry%:*}" "\${entry#*:}" && echo "\${entry%:*}"
  done
}

search() {
  detached=" $(carriers 'HAWSER_MARK=([^/~]*~)?d_[0-9a-z]{26}' | tr '\\n' ' ') "
  table=
  for entry in /proc/[0-9]*; do
    pid=\${entry#/proc/}
    look "$pid" && [ "$ticks" -ge "$born" ] || continue
    case $detached in *" $pid "*) continue ;; esac
    table="$table $pid:$ppid:$sid"
  done
  seeds=" $(grep -lsF -e "HAWSER_MARK=$mark/" /proc/[0-9]*/environ | cut -d / -f 3 | tr '\\n' ' ') $(holders | tr '\\n' ' ') $(leaders | tr '\\n' ' ') "
  found= pids=' ' sessions=' ' grew=1
  while [ $grew = 1 ]; do
    grew=0 rest=
    for entry in $table; do
      pid=\${entry%%:*} sid=\${entry##*:} ppid=\${entry#*:}
      case "$seeds/$pids/$sessions" in
      *" $pid "*/*/* | */*" \${ppid%:*} "*/* | */*/*" $sid "*)
        found="$found $pid" pids="$pids$pid " sessions="$sessions$sid " grew=1
        ;;
      *) rest="$rest $entry" ;;
      esac
    done
    table=$rest
  done
  [ -n "$found" ]
}

exec 2>/dev/null
guard "$@" &
`;
