#!/usr/bin/env bash
# Drives the real window: tests/desktop/run.sh PROGRAM [TEST FILE...]
#
# A screen, a session bus and an unlocked key store of its own; nothing of the person's session is touched, and
# nothing is left behind. `tauri-driver` and Node 22 or newer must be on the PATH; ./check desktop sees to that.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ "${1:-}" != --inside ]; then
  [ $# -gt 0 ] || { echo "Which program? tests/desktop/run.sh PROGRAM [TEST FILE...]" >&2 && exit 2; }
  TEPA_PROGRAM=$(realpath "$1")
  shift
  home=$(mktemp -d)
  session=
  # Stopped from outside, the session goes too.
  trap '[ -z "$session" ] || kill "$session" 2>/dev/null || true; rm -rf "$home"' EXIT
  trap 'exit 130' INT TERM
  export TEPA_PROGRAM
  export XDG_DATA_HOME=$home/data XDG_CONFIG_HOME=$home/config XDG_CACHE_HOME=$home/cache XDG_RUNTIME_DIR=$home/runtime
  mkdir -p -m 700 "$XDG_DATA_HOME" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR"
  unset WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS
  # Taking a screenshot through WebDriver hangs for ever with either of these.
  unset WEBKIT_DISABLE_DMABUF_RENDERER WEBKIT_DISABLE_COMPOSITING_MODE
  LIBGL_ALWAYS_SOFTWARE=1 timeout "${TEPA_DESKTOP_LIMIT:-1200}" \
    xvfb-run -a -s "-screen 0 1920x1080x24" dbus-run-session -- "$here/run.sh" --inside "$@" &
  session=$!
  wait "$session"
  exit
fi

shift
printf 'only for these tests' | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
# It goes to the background before it can be reached.
gdbus wait --session --timeout 20 org.freedesktop.secrets
cd "$here"
[ $# -gt 0 ] || set -- ./*.test.js
# One after the other: two windows at once would be one, the app sees to that.
node --test --test-concurrency=1 --test-timeout=300000 --test-reporter=spec "$@"
