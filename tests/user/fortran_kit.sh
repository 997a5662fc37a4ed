#!/bin/sh
# The kit for Fortran after installing: moved and read-only installations, no compiler, other versions, several flavours, and
# a program that finds another flavour's library. Each failure is one sentence with the command that helps.
. "${0%/*}/common.sh"
cmake --install "$BUILD" --prefix "$WORK/first" >install.log || fail "install: $(tail -5 install.log)"
mkdir moved && mv first moved/prefix
prefix=$WORK/moved/prefix bin=$WORK/moved/prefix/bin
flavours=$prefix/${LIBDIR:-lib}/ashlar/fortran
here=$SOURCE/tests/user/fortran
HOME=$WORK/home
export HOME
unset XDG_CACHE_HOME ASHLAR_FC ASHLAR_FORTRAN_ADD MPICH_FC
flavour=$("$bin/ashlar-fortran" default) || fail "the build has no flavour"
for other in "$flavours"/*; do # the developer may have made more than the build does
  case ${other##*/} in default | "$flavour") ;; *) "$bin/ashlar-fortran" remove "${other##*/}" ;; esac
done

# says TEXT... -- COMMAND: it fails, and prints one line, which has each TEXT.
says() {
  : >texts
  while [ "$1" != -- ]; do
    printf '%s\n' "$1" >>texts
    shift
  done
  shift
  if "$@" >said 2>&1 </dev/null; then fail "no failure: $*"; fi
  [ "$(wc -l <said)" -eq 1 ] || fail "not one sentence: $*: $(cat said)"
  while read -r text; do
    grep -qF -- "$text" said || fail "no \"$text\" in what $* says: $(cat said)"
  done <texts
}

# All three methods, with a tree that was moved after installing.
for program in hello.f hello_mpi.f90 hello_f08.f90; do
  "$bin/mpifort" -o hello "$here/$program" || fail "$program does not compile"
  [ "$("$bin/mpiexec" -n 3 ./hello | grep -c 'rank [012] of 3')" -eq 3 ] || fail "$program"
done
for name in mpif77 mpif90 mpifort_abi; do
  "$bin/$name" -c "$here/hello.f" || fail "$name"
done
"$bin/mpicc" -c "$here/mixed.c" && "$bin/mpifort" -o mixed "$here/mixed.f90" mixed.o && "$bin/mpiexec" -n 3 ./mixed || fail "C and Fortran"
"$bin/ashlar-fortran" list | grep -q "^$flavour .*default" || fail "list: $("$bin/ashlar-fortran" list)"
"$bin/ashlar-fortran" check >said || fail "check: $(cat said)"
grep -qx "$flavour: right" said || fail "check: $(cat said)"

"$bin/mpifort" --implicit-mpif -o wrapped "$here/wrapped.f" && "$bin/mpiexec" -n 2 ./wrapped || fail "--implicit-mpif"

# What build systems ask.
"$bin/mpifort" -show -o shown "$here/hello_f08.f90" >line
[ ! -e shown ] || fail "-show compiled"
sh line && ./shown >/dev/null || fail "the line of -show does not work: $(cat line)"
fc=$("$bin/mpifort" -showme:command)
# shellcheck disable=SC2046
$fc $("$bin/mpifort" -showme:compile) -o apart "$here/hello_mpi.f90" $("$bin/mpifort" -showme:link) && ./apart >/dev/null ||
  fail "-showme:compile and :link"
[ "$("$bin/mpifort" -showme:flavour)" = "$flavour" ] || fail "-showme:flavour"
PKG_CONFIG_PATH=$prefix/${LIBDIR:-lib}/pkgconfig
export PKG_CONFIG_PATH
for package in ashlar-mpi-fortran mpi-fort; do
  # shellcheck disable=SC2046
  $fc $(pkg-config --cflags $package) -o by_pkg "$here/hello_f08.f90" $(pkg-config --libs $package) && ./by_pkg >/dev/null ||
    fail "pkg-config $package"
done
"$bin/mpifort" --version >/dev/null || fail "--version"
"$bin/mpifort" -no-such-option "$here/hello.f" >/dev/null 2>&1 && fail "the compiler's failure was lost"

# Compilers that are not there, or are others than they were.
says "there is no program nosuch" "ASHLAR_FC" -- "$bin/mpifort" --fc=nosuch "$here/hello.f"
says "there is no program nosuch" "ashlar-fortran add /path" -- "$bin/ashlar-fortran" add nosuch
says "no program nocc" "--cc CC" -- "$bin/ashlar-fortran" add --cc nocc "$fc"
says "is it a Fortran compiler" -- "$bin/ashlar-fortran" add false
says "does not make programs" -- "$bin/ashlar-fortran" add "$fc" -no-such-option
rm -f "$(grep -o '[^ ]*ashlar-fortran-log[.A-Za-z0-9]*[A-Za-z0-9]' said)"
mkdir others
cat >others/newer <<END
#!/bin/sh
case \$1 in --version) echo "GNU Fortran (Others) 99.1.0" ;; *) exec $fc "\$@" ;; esac
END
chmod +x others/newer
says "newer 99.1.0" "gfortran-99" "ashlar-fortran add" -- env PATH="$WORK/others:$PATH" "$bin/mpifort" --fc=newer -c "$here/hello_mpi.f90"
says "with -fdefault-integer-8" "$flavour-i8" "ashlar-fortran add $fc -fdefault-integer-8" -- "$bin/mpifort" -fdefault-integer-8 "$here/hello.f"
"$bin/mpifort" --flavour="$flavour" -fdefault-real-8 -o real8 "$here/real8.f90" && "$bin/mpiexec" -n 2 ./real8 || fail "--flavour"
says "there is no flavour $flavour-r8" "ashlar-fortran list" -- "$bin/mpifort" --flavour="$flavour-r8" "$here/real8.f90"
says "--flavour=other-7" "ashlar-fortran list" -- "$bin/mpifort" --flavour=other-7 "$here/real8.f90"
says "with -fdefault-real-8" "$flavour-r8" -- "$bin/mpifort" -fdefault-real-8 -showme:compile

# Made of the sources of another version.
cp "$flavours/$flavour/flavour.conf" kept
sed 's/^STAMP=.*/STAMP=other/' kept >"$flavours/$flavour/flavour.conf"
says "another version of Ashlar MPI" "ashlar-fortran add $fc" -- "$bin/mpifort" -c "$here/hello.f"
"$bin/ashlar-fortran" check >said && fail "a stale flavour is right"
grep -q "^$flavour: it was made of the sources of another version .*ashlar-fortran add $fc" said || fail "check: $(cat said)"
cp kept "$flavours/$flavour/flavour.conf"

# Sources that do not compile: what the compiler said is kept, and nothing else is left.
mkdir tmp
TMPDIR=$WORK/tmp
export TMPDIR
cp "$prefix/share/ashlar/fortran/mpi.f90" kept && echo 'this is not Fortran' >>"$prefix/share/ashlar/fortran/mpi.f90"
says "does not compile mpi.f90" "what it said is in" -- "$bin/ashlar-fortran" add "$fc"
grep -q 'this is not Fortran' "$(grep -o '[^ ]*ashlar-fortran-log[.A-Za-z0-9]*' said)" || fail "the log does not have what the compiler said"
[ "$(ls -A "$TMPDIR" | wc -l)" -eq 1 ] || fail "left: $(ls -A "$TMPDIR")"
[ -z "$(find "$flavours" -name '.*' ! -name . -print)" ] || fail "left: $(ls -A "$flavours")"
cp kept "$prefix/share/ashlar/fortran/mpi.f90"
unset TMPDIR
"$bin/mpifort" -c "$here/hello.f" || fail "a failure took the flavour that was there"

# An installation that may not be written: two compilations at once make the missing flavour, once, in the user's own folder.
chmod -R a-w "$prefix"
mkdir -m 777 home user
chmod a+rx "$WORK"
as_user=
[ "$(id -u)" -ne 0 ] || as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"
for n in 1 2; do
  (cd user && ASHLAR_FORTRAN_ADD=yes $as_user "$bin/mpifort" -fdefault-integer-8 -o wide$n "$here/hello_f08.f90" >said$n 2>&1) &
done
wait
[ "$(cat user/said1 user/said2 | grep -c "^$flavour-i8: .*with -fdefault-integer-8, in $HOME/.cache/ashlar/fortran/")" -eq 1 ] ||
  fail "made on demand: $(cat user/said1 user/said2)"
"$bin/mpiexec" -n 2 user/wide1 >/dev/null && "$bin/mpiexec" -n 2 user/wide2 >/dev/null || fail "the flavour in the user's folder"
"$bin/ashlar-fortran" list | grep -q "^$flavour-i8 .* 8 .*user" || fail "list: $("$bin/ashlar-fortran" list)"
[ "$("$bin/ashlar-fortran" check | grep -c ': right$')" -eq 2 ] || fail "check: $("$bin/ashlar-fortran" check)"

# A program that finds the library of another flavour, or another vendor's, is refused by name.
wide=$("$bin/mpifort" -fdefault-integer-8 -showme:flavour-folder)
"$bin/mpifort" -o hello "$here/hello_f08.f90"
says "version \`ASHLAR_FORTRAN_" "_i8' not found" -- env LD_LIBRARY_PATH="$flavours/$flavour" user/wide1
says "libmpifort_abi.so.1: version \`ASHLAR_FORTRAN_" "not found" -- env LD_LIBRARY_PATH="$wide" ./hello
mkdir vendor
echo 'void mpi_init_(int* ierror) { *ierror = 0; }' >vendor.c
cc -shared -fPIC -Wl,-soname,libmpifort_abi.so.1 -o vendor/libmpifort_abi.so.1 vendor.c
LD_LIBRARY_PATH=$WORK/vendor ./hello >said 2>&1 && fail "another vendor's library was taken"
grep -q 'vendor/libmpifort_abi.so.1: no version information' said || fail "another vendor's library: $(cat said)"

# Going away.
"$bin/ashlar-fortran" remove "$flavour-i8" && [ ! -e "$wide" ] || fail "remove"
says "there is no flavour $flavour-i8" -- "$bin/ashlar-fortran" remove "$flavour-i8"
says "is not the name of a flavour" -- "$bin/ashlar-fortran" remove ../fortran
says "there is no command drop" -- "$bin/ashlar-fortran" drop
[ "$(id -u)" -eq 0 ] || says "may not be written" -- "$bin/ashlar-fortran" remove "$flavour"
chmod -R u+w "$prefix"
