# `llmservice serve` on this machine alone, in the background: its pid and log are in .local/serve, and its port follows from the
# checkout's path. DEMO_PORT is another port.

serve_folder=$repository/.local/serve
serve_command=$repository/cli/bin/llmservice.js
# Below the ports that systems choose for clients.
serve_port=${DEMO_PORT:-$((20000 + 16#${cluster_id:0:4} % 10000))}
serve_url=http://127.0.0.1:$serve_port

# serve_model NAME CHECKPOINT: returns when the server answers; it outlives the script, unless that ends before.
serve_model() {
  local started=$SECONDS reported=0 elapsed
  stop_server
  mkdir -p "$serve_folder"
  trap 'stop_server; exit 130' INT TERM
  setsid node "$serve_command" serve --model "$2" --name "$1" --port "$serve_port" >"$serve_folder/log" 2>&1 </dev/null &
  echo $! >"$serve_folder/pid"
  # Its own word: at its port another program may answer.
  until grep -qs '^Serving ' "$serve_folder/log"; do
    sleep 0.2
    elapsed=$((SECONDS - started))
    if ! server_running || ((elapsed >= 120)); then
      tail -n 20 "$serve_folder/log" >&2
      stop_server
      die "the server does not answer after $elapsed s; if its port is taken: make demo DEMO_PORT=N"
    fi
    if ((elapsed >= reported + 5)); then
      reported=$elapsed
      say "load $1: $elapsed s, $(tail -n 1 "$serve_folder/log")"
    fi
  done
  trap - INT TERM
}

# A pid may be another program's after a reboot.
server_running() {
  [[ -f $serve_folder/pid ]] && tr '\0' ' ' 2>/dev/null <"/proc/$(<"$serve_folder/pid")/cmdline" | grep -qF "$serve_command serve"
}

# Asks politely, and insists after 10 s; its engine processes end with it.
stop_server() {
  local pid waited=0
  if server_running; then
    pid=$(<"$serve_folder/pid")
    kill -TERM "$pid"
    while server_running; do
      if ((waited++ == 50)); then kill -KILL "$pid"; fi
      sleep 0.2
    done
  fi
  rm -rf "$serve_folder"
}
