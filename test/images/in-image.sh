#!/usr/bin/env bash
# Runs a program as a pod would: `in-image.sh ROOT USER FOLDER COMMAND...`, with a root that cannot be written, /tmp of its
# own, no shell to call and the environment that it was given itself.
set -euo pipefail
if [[ ${IN_OWN_MOUNTS:-} != yes ]]; then IN_OWN_MOUNTS=yes exec unshare --mount --propagation private "$0" "$@"; fi
unset IN_OWN_MOUNTS
root=$1 user=${2%:*} group=${2#*:} folder=$3
shift 3
/bin/mount --bind "$root" "$root"
/bin/mount -o remount,bind,ro "$root"
for mounted in dev tmp; do /bin/mount -t tmpfs -o mode=1777 tmpfs "$root/$mounted"; done
/bin/mount --rbind /proc "$root/proc"
for device in null zero urandom; do : >"$root/dev/$device" && /bin/mount --bind "/dev/$device" "$root/dev/$device"; done
for shell in bash dash perl; do
  [[ ! -e $root/usr/bin/$shell ]] || /bin/mount --bind /dev/null "$root/usr/bin/$shell"
done
exec /usr/bin/unshare --root="$root" --wd="$folder" --setgid="$group" --setuid="$user" -- "$@"
