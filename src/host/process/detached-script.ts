// What stays with a detached process when we are gone, in the language every machine has: it keeps the output within its
// bounds, ends the process when its time is up, and writes down how it ended.

import { GRACE_MS } from './stop-tree.js';

/** How long output may still arrive after the process has ended; someone it left behind may hold it open for ever. */
export const DETACHED_DRAIN_MS = 250;

const ROUND_MS = 10;
const GRACE_ROUND_MS = 250;

/**
 * `sh -c <this> rexd <folder> <LAUNCH_SCRIPT> <pattern of the mark> <512-byte blocks per output> <seconds or ''> <mark> <argv …>`.
 * Nothing that is run lies in a file, and its environment is ours alone: what the process is to have comes by descriptor 3.
 *
 * The process runs in the foreground: the shell would have INT and QUIT ignored in one that it starts in the background.
 * Two `cat`s copy its output from pipes into files. They alone are held to the size of a file (a limit that is inherited,
 * and would otherwise hold for every file the process writes): at the cap they are ended, and then the process is.
 */
export const SUPERVISOR_SCRIPT = `
# What /proc tells of a process holds its name: no file of the folder we are in is to take the place of anything in it.
set -f
hawser_dir=$1 hawser_launch=$2 hawser_pattern=$3 hawser_blocks=$4 hawser_limit=$5
shift 5
hawser_mask=$(umask)
hawser_known=
hawser_blank='         ' # as long as any end that is written
umask 077
exec 4>&1 >/dev/null 2>&1
# Whoever ends the whole tree means the process; we stay to tell how it ended. Not ignored: that would be inherited.
trap : HUP INT QUIT TERM USR1 USR2 ALRM

# The pipe stays open on our side too: at the cap its writer waits to be ended, instead of going on with a broken pipe.
hawser_relay() {
  cd /
  exec 4>&- 3<&- <"$hawser_dir/$1"
  (
    ulimit -c 0
    ulimit -f "$hawser_blocks"
    exec cat >>"$hawser_dir/$2"
  ) || hawser_kill
}

# Sets hawser_state and hawser_ticks of a process. False when it is gone. Its name ends in the last line.
hawser_look() {
  hawser_line=
  while read -r hawser_more; do hawser_line=$hawser_more; done <"/proc/$1/stat"
  set -- \${hawser_line##*") "}
  [ $# -ge 20 ] || return 1
  hawser_state=$1
  shift 19
  hawser_ticks=$1
}

hawser_copies() { hawser_look "$1" && [ "$hawser_state" != Z ]; }

# Sets hawser_leader to the number of the process while it runs.
hawser_find_leader() {
  hawser_leader=
  read -r hawser_line hawser_line hawser_pid hawser_born <"$hawser_dir/pid" || return
  hawser_copies "$hawser_pid" && [ "$hawser_ticks" = "$hawser_born" ] && hawser_leader=$hawser_pid
}

# Sets hawser_table to "number:start:parent:session" of all that run. The number is taken from the path: a name with a line
# break in it could make a line that looks like somebody else's.
hawser_list() {
  hawser_table=
  hawser_stats=$(set +f; grep -aHs '' /proc/[0-9]*/stat)
  IFS='
'
  set -- $hawser_stats
  unset IFS
  for hawser_line; do
    hawser_pid=\${hawser_line#/proc/}
    hawser_note "\${hawser_pid%%/*}" \${hawser_line##*") "}
  done
}

# Not of the dead. One whose first thread alone has ended looks dead but for the threads it has left.
hawser_note() {
  [ $# -ge 21 ] || return
  case $2 in [ZXx]) [ "\${19}" -gt 1 ] || return ;; esac
  case $1$3$5\${21} in *[!0-9]*) return ;; esac
  hawser_pid=$1 hawser_line=$3:$5
  shift 20
  hawser_table="$hawser_table $hawser_pid:$1:$hawser_line"
}

# Sets hawser_known to "number:start" of all that carry the mark, descend from one that does, share the session of the
# process or were found before: who has another mark by now, or none, is ours all the same.
hawser_search() {
  hawser_find_leader
  hawser_marked=' '
  for hawser_file in $(set +f; grep -lsE -e "^HAWSER_MARK=$hawser_pattern(/|$)" /proc/[0-9]*/environ); do
    hawser_file=\${hawser_file#/proc/}
    hawser_marked="$hawser_marked\${hawser_file%/environ} "
  done
  hawser_list
  hawser_before=" $hawser_known " hawser_known= hawser_pids=' ' hawser_grew=1
  while [ $hawser_grew = 1 ]; do
    hawser_grew=0 hawser_rest=
    for hawser_entry in $hawser_table; do
      hawser_pid=\${hawser_entry%%:*} hawser_session=\${hawser_entry##*:}
      hawser_parent=\${hawser_entry%:*} hawser_start=\${hawser_entry#*:}
      hawser_parent=\${hawser_parent##*:} hawser_start=\${hawser_start%%:*}
      case "$hawser_marked/$hawser_before/$hawser_pids/$hawser_leader " in
      *" $hawser_pid "*/*/*/* | */*" $hawser_pid:$hawser_start "*/*/* | */*/*" $hawser_parent "*/* | \
      */*/*/"$hawser_pid " | */*/*/"$hawser_session ")
        hawser_pids="$hawser_pids$hawser_pid "
        hawser_known="$hawser_known $hawser_pid:$hawser_start"
        hawser_grew=1
        ;;
      *) hawser_rest="$hawser_rest $hawser_entry" ;;
      esac
    done
    hawser_table=$hawser_rest
  done
}

# Sends a signal to all of them; true when there were any.
hawser_sweep() {
  hawser_found=1
  hawser_search
  for hawser_pid in $hawser_pids; do kill "-$1" "$hawser_pid" && hawser_found=0; done
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
  cd /
  exec 4>&- 3<&-
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
# Room for its end: a disk that is full by then takes what is written over it.
echo "$hawser_blank" >"$hawser_dir/exit.new"
# Out of our group, so that what it does to its own does not reach us.
hawser_setsid=$(command -v setsid)
{
  (
    exec >"$hawser_dir/out" 2>"$hawser_dir/err"
    exec $hawser_setsid sh -c "$hawser_launch" rexd "$hawser_dir" "$hawser_self" "$hawser_mask" "$@"
  )
  hawser_code=$?
} 2>"$hawser_dir/how"
exec 3<&-
cd /

# A code above 128 is a signal's or the program's own. Of a signal the shell says something, but not of every one: what it
# has not told, and tells when we try it, was none. Those that end nobody cannot have been one.
hawser_own=0
if [ "$hawser_code" -gt 128 ] && [ ! -s "$hawser_dir/how" ]; then
  case $((hawser_code - 128)) in
    1[789] | 2[0123] | 28) hawser_own=1 ;;
    *)
      {
        (
          ulimit -c 0
          exec sh -c 'kill "-$0" $$' $((hawser_code - 128))
        )
        :
      } 2>"$hawser_dir/how"
      [ ! -s "$hawser_dir/how" ] || hawser_own=1
      ;;
  esac
fi

hawser_n=0
while [ $hawser_n -lt ${DETACHED_DRAIN_MS / ROUND_MS} ] && { hawser_copies $hawser_out || hawser_copies $hawser_err; }; do
  hawser_n=$((hawser_n + 1))
  sleep ${ROUND_MS / 1000} || sleep 1
done
hawser_late=0
[ ! -e "$hawser_dir/late" ] || hawser_late=1
hawser_n=0
# A full disk may have room again; whoever has removed the folder does not want to know.
until echo "$hawser_code $hawser_late $hawser_own  " 1<>"$hawser_dir/exit.new" && mv "$hawser_dir/exit.new" "$hawser_dir/exit"; do
  hawser_n=$((hawser_n + 1))
  [ $hawser_n -lt 60 ] && [ -d "$hawser_dir" ] || break
  sleep 1
done
rm -f "$hawser_dir/out" "$hawser_dir/err" "$hawser_dir/how"
if [ -n "$hawser_timer" ]; then
  # Once its time was up all of the tree is to end, also what stayed when the process itself went.
  [ $hawser_late = 1 ] || kill "$hawser_timer"
  wait "$hawser_timer"
fi
`;

/**
 * `sh -c <this> rexd <folder> <who watches: "pid start"> <umask> <read|leave> <mark> <argv …>`: writes down who it is and
 * becomes the process. What that has of variables is assigned last, by the text behind descriptor 3, which is `read`: until
 * then none of it is there to mislead a shell. `leave`: the program reads from there itself.
 */
export const LAUNCH_SCRIPT = `
hawser_dir=$1 hawser_self=$2 hawser_given=$4 HAWSER_MARK=$5
read -r hawser_line <"/proc/$$/stat"
hawser_start() { shift 19; hawser_ticks=$1; }
hawser_start \${hawser_line##*") "}
echo "$hawser_self $$ $hawser_ticks" >"$hawser_dir/pid"
umask "$3"
shift 5
echo $$ >&4
exec 4>&-
[ "$hawser_given" = read ] || exec "$@"
unset hawser_dir hawser_self hawser_given hawser_line hawser_ticks OLDPWD SHLVL
. /proc/self/fd/3
exec "$@" 3<&-
`;
