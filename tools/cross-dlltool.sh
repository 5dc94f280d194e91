#!/usr/bin/env bash
# Makes import libraries of Windows, with the environment of cross.sh.
exec "$CROSS_ZIG" dlltool "$@"
