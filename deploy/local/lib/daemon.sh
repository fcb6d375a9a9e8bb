# Long-running programs inside the node: start, stop, and wait for an answer. Each has a pid file (a pid of the
# node's own process namespace) and a log in the state folder.

# start_daemon NAME COMMAND...
start_daemon() {
  local name=$1
  shift
  mkdir -p "$state/pids" "$state/logs"
  in_node bash -c 'name=$1 state=$2; shift 2
    setsid "$@" >>"$state/logs/$name.log" 2>&1 </dev/null &
    echo $! >"$state/pids/$name"' start "$name" "$node_state" "$@"
}

daemon_running() {
  [[ -f $state/pids/$1 ]] && in_node kill -0 "$(<"$state/pids/$1")" 2>/dev/null
}

# stop_daemon NAME: asks politely, and insists after 10 s.
stop_daemon() {
  local name=$1 pid waited=0
  daemon_running "$name" || return 0
  pid=$(<"$state/pids/$name")
  in_node kill -TERM "$pid"
  while daemon_running "$name"; do
    if ((waited++ == 50)); then in_node kill -KILL "$pid"; fi
    sleep 0.2
  done
  rm -f "$state/pids/$name"
}

# wait_for LABEL SECONDS DAEMON COMMAND...: until COMMAND succeeds; shows DAEMON's log when it dies or time runs out.
wait_for() {
  local label=$1 limit=$2 daemon=$3 started=$SECONDS reported=0 elapsed
  shift 3
  until "$@" >/dev/null 2>&1; do
    elapsed=$((SECONDS - started))
    if ! daemon_running "$daemon" || ((elapsed >= limit)); then
      say "$label: no answer after ${elapsed} s. The end of $state/logs/$daemon.log:"
      tail -n 20 "$state/logs/$daemon.log" >&2
      die "$daemon did not start"
    fi
    if ((elapsed >= reported + 5)); then
      reported=$elapsed
      say "$label: waiting, ${elapsed} s of at most $limit s"
    fi
    sleep 0.2
  done
}
