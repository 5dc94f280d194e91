#!/usr/bin/env bash
# The archiver for other targets, with the environment of cross.sh.
exec "$CROSS_ZIG" ar "$@"
