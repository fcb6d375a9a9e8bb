#!/usr/bin/env bash
# Process 1 of the node: gives it folders of its own where programs hard-code paths, then adopts and reaps orphans.
# Runs in new mount, network and process namespaces; when it is killed, the kernel ends everything in them.
# usage: node-init.sh STATE NODE_STATE
set -euo pipefail
state=$1
node_state=$2

# /run, /var/lib and /var/log are hidden behind the node's own, so that nothing is written outside the state folder.
mkdir -p "$state"/{run,kubelet,containerd,cni,log/pods,log/containers}
mount -t tmpfs -o mode=755 node-run "$state/run"
mkdir -p "$state/run${node_state#/run}" "$state/run/containerd" "$state/run/netns"
mount --bind "$state" "$state/run${node_state#/run}"
mount -n --move "$state/run" /run
mount -t tmpfs -o mode=755 node-lib /var/lib
for folder in kubelet containerd cni; do
  mkdir "/var/lib/$folder"
  mount --bind "$node_state/$folder" "/var/lib/$folder"
done
# The kubelet looks for propagated mounts only here.
mount --make-shared /var/lib/kubelet
mount --bind "$node_state/log" /var/log

sysctl -q -w net.ipv4.ip_forward=1
ip link set lo up
touch "$node_state/node.ready"
# bash reaps whatever is reparented to it while it waits.
while :; do
  sleep 3600 &
  wait
done
