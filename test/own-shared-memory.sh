#!/bin/sh
# Runs a command with a /dev/shm of its own: some tests look at all that is there, others put something there meanwhile.
# Who may not mount one runs it as it is: own-shared-memory.sh COMMAND...
if unshare --mount true 2>/dev/null; then
  exec unshare --mount sh -c 'mount -t tmpfs tmpfs /dev/shm && exec "$@"' sh "$@"
fi
exec "$@"
