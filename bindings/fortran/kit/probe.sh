# What a Fortran compiler does, found out by running programs that it made; sourced by ashlar-fortran, which sets
# compiler, flags, cc, sources and work. Each probe is a program of probe/, and prints KEY=VALUE.

# run_probe NAME [FILE.f90]: compiles NAME.f90 (or FILE.f90) with NAME.c if there is one, runs it, and takes its lines as
# variables found_KEY. False when one of the steps fails; what was said is in $log.
run_probe() {
  name=$1 text=${2:-$sources/kit/probe/$1.f90}
  half=$sources/kit/probe/$name.c object=
  {
    echo "== probe $name"
    if [ -r "$half" ]; then
      object=$work/probe/$name.o
      # shellcheck disable=SC2086
      $cc -O2 $cfi -I"$sources" -DASHLAR_F_MANGLING="${found_MANGLING:-0}" -DASHLAR_F_INT="${found_INT:-4}" \
        -DASHLAR_F_REAL="${found_REAL:-4}" -DASHLAR_F_DOUBLE="${found_DOUBLE:-8}" -c "$half" -o "$object" || return 1
    fi
    # shellcheck disable=SC2086
    (cd "$work/probe" && $compiler -O2 $flags "$text" $object $link_flags -o "./$name.out") || return 1
  } >>"$log" 2>&1
  (cd "$work/probe" && "./$name.out") >"$work/said" 2>>"$log" </dev/null || return 1
  cat "$work/said" >>"$log"
  while IFS='=' read -r key value; do
    value=${value% }
    case $key in
      MANGLING) found_MANGLING=$value ;;
      INT) found_INT=$value ;;
      LOGICAL) found_LOGICAL=$value ;;
      REAL) found_REAL=$value ;;
      DOUBLE) found_DOUBLE=$value ;;
      TRUE) found_TRUE=$value ;;
      FALSE) found_FALSE=$value ;;
      READ_AS_TRUE) found_READ_AS_TRUE=$value ;;
      INTEGERS) found_INTEGERS=$value ;;
      LOGICALS) found_LOGICALS=$value ;;
      REALS) found_REALS=$value ;;
      REAL10) found_REAL10=$value ;;
      HIDDEN_LENGTH) found_HIDDEN_LENGTH=$value ;;
      DESCRIPTORS) found_DESCRIPTORS=$value ;;
      NATIVE) found_DESCRIPTORS=$value ;;
      DIRECTIVES) found_DIRECTIVES=$value ;;
      ASYNCHRONOUS) found_ASYNCHRONOUS=$value ;;
    esac
  done <"$work/said"
}

# The folder of this compiler's ISO_Fortran_binding.h as a flag in `cfi`; empty when there is none, as where a distribution
# has it in a package of its own. With another compiler's the descriptors would be read wrong.
find_descriptor_header() {
  header=$($compiler $flags -print-file-name=include/ISO_Fortran_binding.h 2>/dev/null </dev/null) || header=
  program=$(command -v "${compiler%% *}")
  program=$(readlink -f "$program" 2>/dev/null || echo "$program")
  bin=${program%/*}
  for header in "$header" "$bin/../include/flang/ISO_Fortran_binding.h" "$bin/../include/ISO_Fortran_binding.h" \
    "$bin/../opt/compiler/include/ISO_Fortran_binding.h" "$bin/../../include/ISO_Fortran_binding.h"; do
    case $header in /*) ;; *) continue ;; esac
    [ -r "$header" ] && { cfi=-I${header%/*}; return 0; }
  done
  cfi=
}

# rewrite <SOURCE >TEXT: the sources as this compiler needs them. They declare a choice buffer in one form; other compilers
# take a scalar, or a directive that names what it ignores. They are for INTEGER of 4 bytes, with names that say so; lines
# that end in !i4 are for these alone. Lines that need descriptors end in !ts; what takes their place is put where !sizeof stands.
# A compiler that does not honour ASYNCHRONOUS does not get the constant that says so. Special addresses have the names that it
# gives COMMON blocks. Where C reads what the compiler passes by itself, the P forms are ordinary procedures as well, and not
# BIND(C) ones.
rewrite() {
  edit=
  case $form in
    scalar) edit='s/type(\*), dimension(\*)/type(*)/' ;;
    letters) edit='s/^!DIR\$ IGNORE_TKR /!DIR$ IGNORE_TKR(tkrc) /' ;;
  esac
  case $found_MANGLING in
    2) edit="$edit
s/name=\"\(ashlar_f4_c_[a-z_]*\)_\"/name=\"\1__\"/" ;;
    3) edit="$edit
s/name=\"\(ashlar_f4_c_[a-z_]*\)_\"/name=\"\1\"/" ;;
    4) edit="$edit
/name=\"ashlar_f4_c_/{
h
s/.*name=\"\(ashlar_f4_c_[a-z_]*\)_\".*/\1/
y/abcdefghijklmnopqrstuvwxyz/ABCDEFGHIJKLMNOPQRSTUVWXYZ/
G
s/^\([^\n]*\)\n\(.*name=\"\)[^\"]*/\2\1/
}" ;;
  esac
  [ "$found_INT" = 4 ] || edit="$edit
s/ASHLAR_F4_/ASHLAR_F8_/g
s/ashlar_f4_/ashlar_f8_/g
/ !i4\$/d
s/ashlar_int = c_int\$/ashlar_int = c_int64_t/"
  if [ "$found_DESCRIPTORS" = 0 ]; then
    sizeof_interfaces >"$work/sizeof"
    edit="$edit
/!ts\$/d
/^!sizeof\$/r $work/sizeof"
  fi
  edit="$edit
/^!sizeof\$/d"
  [ "$found_DESCRIPTORS" -le 1 ] || edit="$edit
s/ bind(C,name=\"ashlar_fp_[a-z_0-9]*\")//"
  [ "$found_ASYNCHRONOUS" = 1 ] || edit="$edit
/MPI_ASYNC_PROTECTS_NONBLOCKING/s/\\.TRUE\\./.FALSE./"
  sed "$edit"
}

# probe: all of it. Ends the command with a sentence when the compiler cannot be used.
probe() {
  cfi=''
  found_MANGLING=0 found_DESCRIPTORS=0 found_DIRECTIVES=0 found_ASYNCHRONOUS=0 found_HIDDEN_LENGTH=unknown
  run_probe names ||
    die "$compiler${flags:+ $flags} does not make programs that run here; what it said is in $log. Does it work by itself?" keep
  [ "$found_MANGLING" -ge 1 ] || die "$compiler writes names of procedures in a way that is not known here; $log" keep
  run_probe sizes || die "a program that asks for the sizes of kinds does not compile or run; what was said is in $log" keep
  for size in "INTEGER $found_INT" "REAL $found_REAL"; do
    case $size in *' 4' | *' 8') ;; *) die "$compiler $flags has a default ${size% *} of ${size#* } bytes; 4 and 8 are supported" ;; esac
  done
  run_probe text || found_HIDDEN_LENGTH=unknown
  [ "$found_HIDDEN_LENGTH" != unknown ] ||
    die "$compiler passes the lengths of CHARACTER arguments in a way that is not known here; $log" keep
  find_descriptor_header
  if [ -n "$cfi" ]; then
    run_probe descriptors || found_DESCRIPTORS=0
    # Shims in Fortran work with every such compiler; a test asks for them where they could be done without.
    if [ "$found_DESCRIPTORS" = 1 ] && [ "${ASHLAR_FORTRAN_SHIMS:-no}" != yes ]; then
      run_probe native || found_DESCRIPTORS=1
    fi
  fi
  for form in plain scalar letters; do
    rewrite <"$sources/kit/probe/directives.f90" >"$work/directives.$form.f90"
    found_DIRECTIVES=0
    run_probe directives "$work/directives.$form.f90" && [ "$found_DIRECTIVES" = 1 ] && break
  done
  [ "$found_DIRECTIVES" = 1 ] ||
    die "$compiler has no directive that lets a procedure take buffers of any type, which mpif.h and the module mpi need; $log" keep
  run_probe asynchronous || found_ASYNCHRONOUS=0
}
