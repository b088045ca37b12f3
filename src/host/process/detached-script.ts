// What stays with a detached process when we are gone, in the language every machine has: it keeps the output within its
// bounds, ends the process when its time is up, and writes down how it ended.

import { GRACE_MS } from './stop-tree.js';

/** How long output may still arrive after the process has ended; someone it left behind may hold it open for ever. */
export const DETACHED_DRAIN_MS = 250;

const ROUND_MS = 10;
const GRACE_ROUND_MS = 250;

/**
 * `sh run <folder> <PATH of its tools> <pattern of the mark> <512-byte blocks per output> <seconds or ''> <mark> <argv …>`.
 *
 * The process runs in the foreground: the shell would have INT and QUIT ignored in one that it starts in the background.
 * Two `cat`s copy its output from pipes into files. They alone are held to the size of a file (a limit that is inherited,
 * and would otherwise hold for every file the process writes): at the cap they are ended, and then the process is.
 * All names begin with `hawser_`, because what is assigned here to a variable of the process would reach it changed.
 */
export const SUPERVISOR_SCRIPT = `
hawser_dir=$1 hawser_tools=$2 hawser_pattern=$3 hawser_blocks=$4 hawser_limit=$5
shift 5
hawser_path=$PATH hawser_mask=$(umask)
PATH=$hawser_tools
umask 077
exec 4>&1 >/dev/null 2>&1
# Whoever ends the whole tree means the process; we stay to tell how it ended. Not ignored: that would be inherited.
trap : HUP INT QUIT TERM USR1 USR2 ALRM

# The pipe stays open on our side too: at the cap its writer waits to be ended, instead of going on with a broken pipe.
hawser_relay() {
  exec 4>&- <"$hawser_dir/$1"
  (
    ulimit -c 0
    ulimit -f "$hawser_blocks"
    exec cat >>"$hawser_dir/$2"
  ) || hawser_kill
}

# Sets hawser_state and hawser_ticks of a process whose name has no line break. False when it is gone.
hawser_look() {
  read -r hawser_line <"/proc/$1/stat" || return 1
  set -- \${hawser_line##*") "}
  hawser_state=$1
  shift 19
  hawser_ticks=$1
}

hawser_copies() { hawser_look "$1" && [ "$hawser_state" != Z ]; }

# Sends a signal to all that carry the mark; true when there were any.
hawser_sweep() {
  hawser_found=1
  for hawser_file in $(grep -lsE -e "^HAWSER_MARK=$hawser_pattern(/|$)" /proc/[0-9]*/environ); do
    hawser_file=\${hawser_file#/proc/}
    kill "-$1" "\${hawser_file%/environ}" && hawser_found=0
  done
  return $hawser_found
}

hawser_kill() {
  hawser_n=0
  while [ $hawser_n -lt 100 ] && hawser_sweep KILL; do
    hawser_n=$((hawser_n + 1))
    sleep 0.02 || sleep 1
  done
}

hawser_watch() {
  exec 4>&-
  trap 'kill "$hawser_nap"; exit' TERM
  sleep "$hawser_limit" &
  hawser_nap=$!
  wait "$hawser_nap" || {
    sleep "$((\${hawser_limit%.*} + 1))" & # one that knows no fractions
    hawser_nap=$!
    wait "$hawser_nap"
  }
  trap : TERM
  : >"$hawser_dir/late"
  hawser_sweep TERM
  hawser_n=0
  while [ $hawser_n -lt ${GRACE_MS / GRACE_ROUND_MS} ] && hawser_sweep 0; do
    hawser_n=$((hawser_n + 1))
    sleep ${GRACE_ROUND_MS / 1000} || sleep 1
  done
  hawser_kill
}

mkfifo -m 600 "$hawser_dir/out" "$hawser_dir/err" || exit
hawser_relay out stdout &
hawser_out=$!
hawser_relay err stderr &
hawser_err=$!
hawser_timer=
if [ -n "$hawser_limit" ]; then
  hawser_watch &
  hawser_timer=$!
fi
hawser_look $$
hawser_self="$$ $hawser_ticks"
# Out of our group, so that what it does to its own does not reach us.
hawser_setsid=$(command -v setsid)
(
  exec >"$hawser_dir/out" 2>"$hawser_dir/err"
  exec $hawser_setsid sh "$hawser_dir/launch" "$hawser_dir" "$hawser_self" "$hawser_path" "$hawser_mask" "$@"
)
hawser_code=$?

hawser_n=0
while [ $hawser_n -lt ${DETACHED_DRAIN_MS / ROUND_MS} ] && { hawser_copies $hawser_out || hawser_copies $hawser_err; }; do
  hawser_n=$((hawser_n + 1))
  sleep ${ROUND_MS / 1000} || sleep 1
done
hawser_late=0
[ ! -e "$hawser_dir/late" ] || hawser_late=1
hawser_n=0
# A full disk may have room again; whoever has removed the folder does not want to know.
until echo "$hawser_code $hawser_late" >"$hawser_dir/exit.new" && mv "$hawser_dir/exit.new" "$hawser_dir/exit"; do
  hawser_n=$((hawser_n + 1))
  [ $hawser_n -lt 60 ] && [ -d "$hawser_dir" ] || break
  sleep 1
done
rm -f "$hawser_dir/out" "$hawser_dir/err"
if [ -n "$hawser_timer" ]; then
  # Once its time was up all of the tree is to end, also what stayed when the process itself went.
  [ $hawser_late = 1 ] || kill "$hawser_timer"
  wait "$hawser_timer"
fi
`;

/**
 * `sh launch <folder> <who watches: "pid start"> <PATH> <umask> <mark> <argv …>`: writes down who it is and becomes the
 * process, with what that is to have in place of what the supervisor needed for itself.
 */
export const LAUNCH_SCRIPT = `
hawser_dir=$1 hawser_self=$2 PATH=$3 HAWSER_MARK=$5
read -r hawser_line <"/proc/$$/stat"
hawser_start() { shift 19; hawser_ticks=$1; }
hawser_start \${hawser_line##*") "}
echo "$hawser_self $$ $hawser_ticks" >"$hawser_dir/pid"
umask "$4"
shift 5
echo $$ >&4
exec "$@" 4>&-
`;
