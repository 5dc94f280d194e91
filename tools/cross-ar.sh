#!/usr/bin/env bash
# The archiver for Mac targets, with the environment of check-apple.sh.
exec "$APPLE_ZIG" ar "$@"
