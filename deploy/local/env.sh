# Sourced by the Makefile and by people: puts the toolchains that bootstrap.sh may have installed, and the local
# cluster's kubectl and helm, on the PATH.
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
