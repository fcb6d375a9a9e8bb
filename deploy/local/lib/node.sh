# The node as a set of namespaces (mounts, network, processes) and a cgroup: made, entered and removed whole.
# Killing its first process ends every daemon and pod in it; mounts, interfaces and iptables rules go with them.

# in_node COMMAND...: runs a program inside the node.
in_node() { nsenter -t "$(<"$state/node.pid")" -m -n -p -- "$@"; }

node_running() { [[ -f $state/node.ready ]] && node_is_ours; }

# containerd stacks overlay mounts, which not every filesystem can hold (another overlay, for one).
overlay_works() {
  local probe status=0
  mkdir -p "$1"
  probe=$(mktemp -d "$1/probe.XXXXXX")
  mkdir "$probe"/{lower,upper,work,merged}
  unshare --mount mount -t overlay probe "$probe/merged" \
    -o "lowerdir=$probe/lower,upperdir=$probe/upper,workdir=$probe/work" 2>/dev/null || status=1
  rm -rf "$probe"
  return "$status"
}

place_state() {
  mkdir -p "$repository/.local"
  if overlay_works "$repository/.local"; then
    mkdir -p "$state"
  elif overlay_works "$cache/clusters"; then
    mkdir -p "$cache/clusters/$cluster_id"
    ln -sfn "$cache/clusters/$cluster_id" "$state"
  else
    die "overlayfs works neither in $repository nor in $cache: set LLMSERVICE_CACHE to a folder on ext4, xfs or tmpfs"
  fi
}

# Every cgroup v1 hierarchy, or the single v2 one.
cgroup_hierarchies() { awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts; }

make_node() {
  local supervisor hierarchy waited=0 init=$local_folder/lib/node-init.sh
  place_state
  for hierarchy in $(cgroup_hierarchies); do mkdir -p "$hierarchy/$cgroup"; done
  if [[ -f /sys/fs/cgroup/cpuset/$cgroup/cpuset.cpus ]]; then
    cat /sys/fs/cgroup/cpuset/cpuset.cpus >"/sys/fs/cgroup/cpuset/$cgroup/cpuset.cpus"
    cat /sys/fs/cgroup/cpuset/cpuset.mems >"/sys/fs/cgroup/cpuset/$cgroup/cpuset.mems"
  fi
  setsid unshare --fork --pid --mount-proc --mount --net --propagation private \
    bash "$init" "$(realpath "$state")" "$node_state" >"$state/node.log" 2>&1 </dev/null &
  supervisor=$!
  until [[ -f $state/node.ready ]]; do
    kill -0 "$supervisor" 2>/dev/null || die "the node's namespaces could not be made: $(tail -n 3 "$state/node.log")"
    ((waited++ < 100)) || die "the node's first process does not answer; see $state/node.log"
    sleep 0.1
  done
  ps -o pid= --ppid "$supervisor" | tr -d ' \n' >"$state/node.pid"
  connect_node
}

connect_node() {
  ip link add "$veth" type veth peer name eth0 netns "$(<"$state/node.pid")" ||
    die "the interface $veth exists already; remove it with: ip link delete $veth"
  ip address add "$host_ip/30" dev "$veth"
  ip link set "$veth" up
  in_node ip address add "$node_ip/30" dev eth0
  in_node ip link set eth0 up
  # Nothing is forwarded; without a default route, service addresses would be unreachable from the node itself.
  in_node ip route add default via "$host_ip"
}

remove_node() {
  local hierarchy waited=0 leaf
  [[ -e $state ]] || [[ -e /sys/class/net/$veth ]] || return 0
  if node_is_ours; then kill -KILL "$(<"$state/node.pid")"; fi
  # The kernel lets the first process of a namespace go only after all others in it.
  while [[ -e /sys/class/net/$veth ]] || node_is_ours || [[ -n $(node_processes) ]]; do
    ((waited++ < 300)) || die "still there 30 s after the node was killed: $veth, processes $(node_processes)"
    # The peer goes with the namespace; an interface that never got a peer has to be deleted.
    ((waited != 50)) || ip link delete "$veth" 2>/dev/null || true
    sleep 0.1
  done
  for hierarchy in $(cgroup_hierarchies); do
    [[ -d $hierarchy/$cgroup ]] || continue
    find "$hierarchy/$cgroup" -depth -type d | while read -r leaf; do rmdir "$leaf"; done
  done
  rm -rf --one-file-system "$(realpath "$state")" "$state"
}

# A pid file may outlive a reboot: the process must be ours.
node_is_ours() { [[ -f $state/node.pid ]] && grep -qs node-init.sh "/proc/$(<"$state/node.pid")/cmdline"; }

node_processes() {
  local hierarchy
  for hierarchy in $(cgroup_hierarchies); do
    [[ -d $hierarchy/$cgroup ]] || continue
    find "$hierarchy/$cgroup" -name cgroup.procs -exec cat {} + 2>/dev/null
  done | sort -u | tr '\n' ' ' | sed 's/ $//'
}
