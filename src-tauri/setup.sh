# What ./run and ./check share: where build products live, what a machine needs, and how a phase is shown.
# Sourced by both; it does nothing by itself.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${TEPA_BUILD_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/tepa-desktop}
tools=$build/tools
logs=$build/logs
mkdir -p "$tools" "$logs"
# Outside the checkout, so that a fresh clone starts from what the last one built.
export CARGO_TARGET_DIR=$build/target
export CARGO_TERM_COLOR=never

# ---- What is shown --------------------------------------------------------------------------------------------

say() { printf '%s\n' "$*"; }

stop() {
  printf '%s\n' "$*" >&2
  exit 2
}

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# phase TITLE COMMAND...  One line with its time. What the command says goes to a log, whose end is shown when it
# fails; on a terminal the line is alive meanwhile. `$log` names the log afterwards.
phase() {
  local title=$1 began=$SECONDS status=0 ticker=
  shift
  log=$logs/$(tr -cs '[:alnum:]' '-' <<<"$title").log
  : >"$log"
  if [ -t 1 ]; then
    show_progress "$title" "$log" &
    ticker=$!
  else
    printf '%s … ' "$title"
  fi
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if [ -n "$ticker" ]; then
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null
    printf '\r\033[K%s … ' "$title"
  fi
  if [ "$status" = 0 ]; then
    say "$(clock $((SECONDS - began)))"
  else
    say "failed after $(clock $((SECONDS - began)))"
  fi
  return "$status"
}

show_progress() {
  local began=$SECONDS last
  while :; do
    last=$(tail -n 1 "$2" | cut -c 1-48)
    printf '\r\033[K%s … %s  %s' "$1" "$(clock $((SECONDS - began)))" "$last"
    sleep 1
  done
}

# must TITLE COMMAND...  A phase without which nothing can go on.
must() {
  phase "$@" && return
  tail -n 40 "$log" >&2
  stop "That did not work: the last lines are above, all of it is in $log"
}

# ---- What the machine has -------------------------------------------------------------------------------------

on_debian() { command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; }

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
  done
}

# need_packages WHY PACKAGE...  Installs what is missing of these, on Debian and its relatives.
need_packages() {
  local why=$1 missing as_root=
  shift
  missing=$(missing_packages "$@")
  [ -z "$missing" ] && return
  say "$why, this machine lacks: $missing"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || stop "Install them as the administrator: apt-get install $missing"
    say "They are installed with sudo, which may ask for your password."
    sudo -v || stop "Without the administrator's rights, ask for: apt-get install $missing"
    as_root=sudo
  fi
  # shellcheck disable=SC2086  # a list of words, and perhaps no word at all
  must "Installing system packages" install_packages "$as_root" $missing
}

install_packages() {
  local as_root=$1
  shift
  $as_root apt-get update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

need_rust() {
  command -v cargo >/dev/null || PATH=$PATH:$HOME/.cargo/bin
  command -v cargo >/dev/null || stop "Rust is missing. Get it from https://rustup.rs (one command, no administrator needed), then start this again."
  local wanted have
  wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$top/Cargo.toml")
  have=$(rustc --version | cut -d ' ' -f 2)
  at_least "$have" "$wanted" || stop "Tepa needs Rust $wanted, this machine has $have. Update it with: rustup update stable"
}

# Cargo reads the settings beside the workspace, not beside the caller.
cargo_here() { (cd "$top" && cargo "$@"); }

at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

need_compiler() {
  if on_debian; then
    need_packages "To build" build-essential
  else
    command -v cc >/dev/null || stop "A C compiler is missing. $(on_macos && say "Install it with: xcode-select --install" || say "Install gcc or clang from your system's packages.")"
  fi
}

on_macos() { [ "$(uname -s)" = Darwin ]; }
on_windows() { case $(uname -s) in MINGW* | MSYS* | CYGWIN*) true ;; *) false ;; esac }

# What a window is made of; on Windows and macOS the system brings it along.
need_webkit() {
  if on_debian; then
    need_packages "For the window" pkg-config libdbus-1-dev libgtk-3-dev libwebkit2gtk-4.1-dev libayatana-appindicator3-1
  elif ! on_macos && ! on_windows; then
    pkg-config --exists webkit2gtk-4.1 dbus-1 2>/dev/null ||
      stop "The window needs the development packages of WebKitGTK 4.1 and D-Bus (Fedora: webkit2gtk4.1-devel dbus-devel; Arch: webkit2gtk-4.1 dbus). https://v2.tauri.app/start/prerequisites/ lists them for each system."
  fi
}

# Node 22 or newer: the machine's, or one in the tool folder.
need_node() {
  new_enough_node && return
  PATH=$tools/node/node_modules/.bin:$PATH
  new_enough_node && return
  local platform
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) platform=linux-x64 ;;
    Linux-aarch64) platform=linux-arm64 ;;
    Darwin-arm64) platform=darwin-arm64 ;;
    *) stop "The page needs Node 22 or newer. Get it from https://nodejs.org, then start this again." ;;
  esac
  if ! command -v npm >/dev/null; then
    on_debian || stop "The page needs Node 22 or newer. Get it from https://nodejs.org, then start this again."
    need_packages "To fetch Node" npm
  fi
  say "The page needs Node 22 or newer; one is put into $tools."
  must "Fetching Node" npm install --prefix "$tools/node" --no-audit --no-fund "node-$platform@24" npm@11
  # The shell remembers where it found npm before.
  hash -r
  new_enough_node || stop "The Node in $tools/node does not start. Get Node 22 or newer from https://nodejs.org."
}

new_enough_node() {
  command -v npm >/dev/null && command -v node >/dev/null && at_least "$(node --version | tr -d v)" 22.12
}

# ---- What is built --------------------------------------------------------------------------------------------

# The same for the same contents of these files and folders, whatever their times say.
fingerprint() {
  (
    cd "$top" || exit
    find "$@" \( -name node_modules -o -name dist -o -name test-results \) -prune -o -type f -print0 |
      LC_ALL=C sort -z | xargs -0 cksum
  ) | cksum
}

# need_modules FOLDER  Its Node modules, as its lock file says.
need_modules() {
  local folder=$1 stamp=$top/$1/node_modules/.tepa-stamp now
  now="$(fingerprint "$folder/package.json" "$folder/package-lock.json") $(node --version)"
  [ "$(cat "$stamp" 2>/dev/null)" = "$now" ] && return
  must "Fetching Node modules for $folder" npm ci --prefix "$top/$folder" --no-audit --no-fund
  printf '%s' "$now" >"$stamp"
}

# The page, as files in ui/dist that the window carries inside.
need_page() {
  need_node
  need_modules ui
  local stamp=$top/ui/node_modules/.tepa-page now
  now=$(fingerprint ui)
  [ -f "$top/ui/dist/index.html" ] && [ "$(cat "$stamp" 2>/dev/null)" = "$now" ] && return
  must "Building the page" npm run --prefix "$top/ui" build
  printf '%s' "$now" >"$stamp"
}
