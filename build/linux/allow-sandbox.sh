#!/bin/sh
# Since 23.10 Ubuntu allows only known programs to create the sandbox in which windows run. This registers the program in
# this folder with AppArmor, as the deb package does automatically. Run it once, as root: sudo ./allow-sandbox.sh
set -eu
program="$(dirname "$(readlink -f "$0")")/virnucpro-desktop"
profile=/etc/apparmor.d/virnucpro-desktop-unpacked
if ! command -v apparmor_parser >/dev/null; then
  echo "There is no AppArmor here, so nothing has to be allowed."
  exit 0
fi
cat >"$profile" <<END
abi <abi/4.0>,
include <tunables/global>

profile "virnucpro-desktop-unpacked" "$program" flags=(unconfined) {
  userns,
  include if exists <local/virnucpro-desktop-unpacked>
}
END
apparmor_parser --replace "$profile"
echo "Allowed: $program"
