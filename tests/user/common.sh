# Sourced by the scripts of this folder: BUILD and SOURCE are the trees, WORK an empty folder that goes away at the end.
set -eu
BUILD=$1 SOURCE=$2
WORK=$(mktemp -d "${TMPDIR:-/tmp}/ashlar-user.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"
PATH=$BUILD/bin:$PATH
export PATH

fail() {
  echo "$0: $*" >&2
  exit 1
}
