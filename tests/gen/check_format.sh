#!/bin/sh
# Every source file looks as .clang-format says. usage: check_format.sh SOURCE CLANG_FORMAT
# Not looked at: what is generated, or whose layout is the point (the header of the standard, templates, a table of calls).
cd "$1" || exit 1
find framework components mpiexec bindings tests examples \( -name '*.cc' -o -name '*.h' -o -name '*.c' \) \
  ! -path 'bindings/gen/templates/*' ! -path tests/abi/argument_checks.c -print0 |
  xargs -0 "$2" --dry-run -Werror || {
  echo "FAILED: $2 -i FILE mends these"
  exit 1
}
