# Makes a flavour: compiles the sources for one compiler, tries the result, and puts it in its place. Sourced by
# ashlar-fortran after flavour.sh and probe.sh.

# The macros of the C sources, from what the probes found.
definitions() {
  printf '%s ' -DASHLAR_F_MANGLING="$found_MANGLING" -DASHLAR_F_INT="$found_INT" -DASHLAR_F_LOGICAL="$found_LOGICAL" \
    -DASHLAR_F_REAL="$found_REAL" -DASHLAR_F_DOUBLE="$found_DOUBLE" -DASHLAR_F_TRUE="$found_TRUE" \
    -DASHLAR_F_FALSE="$found_FALSE" -DASHLAR_F_LENGTH="$found_HIDDEN_LENGTH" -DASHLAR_F_DESCRIPTORS="$found_DESCRIPTORS" \
    -DASHLAR_F_INTEGERS="$found_INTEGERS" -DASHLAR_F_LOGICALS="$found_LOGICALS" -DASHLAR_F_REALS="$found_REALS" \
    -DASHLAR_F_REAL10="$found_REAL10"
}

# take_source FILE: its text as this compiler needs it, in $work.
take_source() {
  [ -r "$sources/$1" ] || die "$sources/$1 is missing; install Ashlar MPI again"
  rewrite <"$sources/$1" >"$work/$1"
}

# The lines of sources.list that are for this compiler, as "KIND FILE OPTIONS"; KIND is f90, c or data.
list_sources() {
  while read -r kind file options; do
    case $kind in
      '' | '#'*) continue ;;
      *-descriptors) [ "$found_DESCRIPTORS" != 0 ] || continue ;;
      *-shims) [ "$found_DESCRIPTORS" = 1 ] || continue ;;
      *-directives) [ "$found_DESCRIPTORS" = 0 ] || continue ;;
      *-calls) options="$options $for_calls" ;;
    esac
    for found in "$sources"/$file; do
      echo "${kind%-*} ${found##*/} $options"
    done
  done <"$sources/kit/sources.list"
}

# for_calls: room for the arguments that a call passes on the stack is made once, at the start of a function: three
# instructions less for MPI_Irecv than with a push for each. gcc for x86 has this as an option.
find_for_calls() {
  for_calls=-maccumulate-outgoing-args
  $cc $for_calls -Werror -x c -c /dev/null -o "$work/option.o" 2>/dev/null || for_calls=
}

# The C files, in the background of the Fortran ones: they need nothing of each other.
compile_c() {
  number=0
  list_sources | while read -r kind file options; do
    [ "$kind" = c ] || continue
    number=$((number + 1))
    echo "== $cc $file $options"
    # shellcheck disable=SC2046,SC2086
    $cc -std=gnu11 -O2 -fPIC -w $c_flags $cfi -I"$include" -I"$sources" $(definitions) -DASHLAR_F_FLAVOUR="\"$flavour\"" \
      $options -c "$sources/$file" -o "$work/$number.c.o" || exit 1
  done >"$work/c.log" 2>&1
}

compile_fortran() {
  number=0
  list_sources | while read -r kind file options; do
    case $kind in
      data) take_source "$file" ;;
      f90)
        take_source "$file"
        number=$((number + 1))
        echo "== $compiler $file"
        # shellcheck disable=SC2086
        (cd "$work" && $compiler -O2 -fPIC $flags $options -c "$file" -o "$number.f.o") || { echo "$file" >"$work/failed"; exit 1; }
        ;;
    esac
  done >>"$log" 2>&1
}

# One version for all symbols: a program that finds the library of another family or size of INTEGER is refused by the
# dynamic linker, which names both.
symbol_version() { echo "ASHLAR_FORTRAN_$family$kinds" | tr - _; }

link_library() {
  echo "$(symbol_version) { global: *; local: ashlar_f_internal_*; };" >"$work/symbols.map"
  echo "== linking"
  # shellcheck disable=SC2086
  $compiler -shared $flags -o "$work/libmpifort_abi.so.1" "$work"/*.c.o "$work"/*.f.o $link_flags \
    -Wl,-soname,libmpifort_abi.so.1 -Wl,-z,defs -Wl,--as-needed -Wl,--version-script="$work/symbols.map" -L"$lib" "$run_path" -lmpi_abi
}

compile() {
  find_for_calls
  compile_c &
  in_background=$!
  compile_fortran || failed=yes
  wait $in_background || {
    cat "$work/c.log" >>"$log"
    die "the C sources do not compile with $cc; what it said is in $log" keep
  }
  [ -z "${failed-}" ] || die "$compiler${flags:+ $flags} does not compile $(cat "$work/failed" 2>/dev/null); what it said is in $log" keep
  link_library >>"$log" 2>&1 || die "libmpifort_abi.so.1 does not link; what was said is in $log" keep
}

# assemble: the flavour as it will lie there, in $stage.
assemble() {
  cp "$work"/*.mod "$work/libmpifort_abi.so.1" "$stage/" || return 1
  ln -s libmpifort_abi.so.1 "$stage/libmpifort_abi.so"
  list_sources | while read -r kind file options; do
    [ "$kind" != data ] && continue
    case $file in
      # Its interfaces are the last part of it; --implicit-mpif is without.
      mpif.h) mkdir -p "$stage/implicit" && sed '/^ *INTERFACE$/,$d' "$work/$file" >"$stage/implicit/$file" ;;
    esac
    cp "$work/$file" "$stage/"
  done
  {
    echo "FC=$compiler"
    echo "FAMILY=$family"
    echo "VERSION=$version"
    echo "FLAGS=$flags"
    echo "STAMP=$stamp"
    for key in MANGLING INT LOGICAL REAL DOUBLE TRUE FALSE READ_AS_TRUE INTEGERS LOGICALS REALS REAL10 HIDDEN_LENGTH \
      DESCRIPTORS ASYNCHRONOUS; do
      eval "echo \"$key=\$found_$key\""
    done
    echo "SUBARRAYS=$with_sections"
    echo "BUFFERS=$form"
  } >"$stage/flavour.conf"
  chmod -R a+rX,u+w "$stage"
}

# self_test FOLDER: $with_sections says whether it passes descriptors; each program of selftest/ compiled with the flavour
# there, run alone, and on two ranks where mpiexec is. The programs name libmpi_abi.so.1 although they call only procedures of
# the flavour: in a package the flavour has no run path of its own, and the program's leads it to this installation's library.
self_test() {
  for program in "$sources"/kit/selftest/*.f*; do
    name=${program##*/}
    # Compilers without descriptors refuse sections where they would be copied.
    case $name,$with_sections in sections*,0) continue ;; esac
    result=$work/selftest.${name%.*}
    echo "== self-test $name"
    # shellcheck disable=SC2086
    (cd "$work/test" && $compiler -O2 $flags -I"$1" "$program" -o "$result" $link_flags -L"$1" "-Wl,-rpath,$1" -lmpifort_abi \
      -L"$lib" "-Wl,-rpath,$lib" -Wl,--no-as-needed -lmpi_abi) || return 1
    "$result" </dev/null || return 1
    [ ! -x "$prefix/bin/mpiexec" ] || "$prefix/bin/mpiexec" -n 2 "$result" </dev/null || return 1
  done
}

# writable_place: sets `place`, the folder for flavours: the installation's, or that of the user.
writable_place() {
  for place in "$installed" ${own:+"$own"}; do
    mkdir -p "$place" 2>/dev/null && [ -w "$place" ] && return 0
  done
  die "$installed cannot be written, and there is no folder of your own: set HOME or XDG_CACHE_HOME"
}
