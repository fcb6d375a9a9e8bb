# Sourced by the Makefile and by people: puts the toolchains that bootstrap.sh may have installed, the local cluster's
# kubectl and helm, and the commands llmservice and kubectl-llm on the PATH.
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
