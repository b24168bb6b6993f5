#!/usr/bin/env bash
# Installs, starts and removes the packages in out/ as a user would, for the whole computer: for the runners of release.yml.
# Each start is the program's own check (--self-check), whose last point is the example. The first sets Python up.
set -euo pipefail
cd "$(dirname "$0")/../.."
shopt -s nullglob
work="$(mktemp -d)/with spaces"
mkdir -p "$work"

# The only file of a kind in out/.
package() {
  local found=(out/*"$1")
  if [ "${#found[@]}" -ne 1 ]; then
    echo "There are ${#found[@]} files out/*$1 instead of one." >&2
    exit 1
  fi
  echo "$PWD/${found[0]}"
}

# A changed archive must not be started, where Electron checks it.
refuses_a_changed_archive() {
  printf 'X' | dd of="$1" bs=1 seek=100 conv=notrunc
  if "$2" --self-check; then
    echo "A changed archive was started." >&2
    exit 1
  fi
}

case "$(uname -s)" in
Linux)
  deb="$(package .deb)"
  image="$(package .AppImage)"
  archive="$(package .tar.gz)"
  check() { xvfb-run --auto-servernum "$@" --self-check; }
  # Under the AppArmor profile that it brings.
  sudo apt-get install --yes "$deb"
  check virnucpro-desktop --set-up
  check virnucpro-desktop
  sudo apt-get remove --yes virnucpro-desktop
  chmod +x "$image"
  check "$image"
  tar -xzf "$archive" -C "$work" --strip-components 1
  sudo "$work/allow-sandbox.sh"
  check "$work/virnucpro-desktop"
  ;;
Darwin)
  mounted="$(mktemp -d)"
  app="$work/VirNucPro Desktop.app"
  program="$app/Contents/MacOS/VirNucPro Desktop"
  hdiutil attach -nobrowse -mountpoint "$mounted" "$(package .dmg)"
  cp -R "$mounted/VirNucPro Desktop.app" "$app"
  hdiutil detach "$mounted"
  codesign --verify --deep --strict "$app"
  if [ "${SIGNED:-false}" = true ]; then spctl --assess --type execute --verbose "$app"; fi
  if [ "${NOTARISED:-false}" = true ]; then xcrun stapler validate "$app"; fi
  "$program" --self-check --set-up
  "$program" --self-check
  refuses_a_changed_archive "$app/Contents/Resources/app.asar" "$program"
  ;;
MINGW* | MSYS*)
  installer="$(package .exe)"
  folder="$LOCALAPPDATA/Programs/virnucpro-desktop"
  program="$folder/VirNucPro Desktop.exe"
  if [ "${SIGNED:-false}" = true ]; then
    FILE="$installer" powershell -Command 'if ((Get-AuthenticodeSignature $env:FILE).Status -ne "Valid") { exit 1 }'
  fi
  # Git's bash would take /S for a folder.
  MSYS_NO_PATHCONV=1 "$installer" /S
  "$program" --self-check --set-up
  "$program" --self-check
  cp -R "$folder" "$work/copy"
  refuses_a_changed_archive "$work/copy/resources/app.asar" "$work/copy/VirNucPro Desktop.exe"
  # It goes on in a copy of itself.
  MSYS_NO_PATHCONV=1 "$folder/Uninstall VirNucPro Desktop.exe" /S
  for _ in $(seq 60); do
    [ -e "$program" ] || exit 0
    sleep 1
  done
  echo "The program is still installed." >&2
  exit 1
  ;;
*)
  echo "There are no packages for $(uname -s)." >&2
  exit 1
  ;;
esac
