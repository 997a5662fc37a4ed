# Which flavour of the Fortran modules and library belongs to a compiler and its flags, and where it lies. Sourced by
# ashlar-fortran and by mpifort, which set `prefix` before and define die SENTENCE.
# A flavour is named for the compiler's family and major version and for the flags that change what default INTEGER, REAL
# and names are: gfortran-12, flang-22-i8.

# identify COMMAND: sets family, version and major; false when it does not run. COMMAND may hold flags or a launcher.
identify() {
  # shellcheck disable=SC2086
  said=$($1 --version 2>/dev/null </dev/null) && [ -n "$said" ] || said=$($1 -V 2>&1 </dev/null) || return 1
  first=${said%%
*}
  case $first in
    'GNU Fortran'*)
      family=gfortran
      # GNU Fortran (Debian 12.2.0-14) 12.2.0: what is in parentheses is the distribution's.
      first=${first#*) }
      ;;
    *flang*' version '*) family=flang first=${first#* version } ;;
    ifx*) family=ifx ;;
    ifort*) family=ifort ;;
    *nvfortran* | *NVIDIA*Fortran*) family=nvfortran ;;
    *'Cray Fortran'*) family=crayftn ;;
    *'NAG Fortran'*) family=nagfor ;;
    *)
      # Another one is called as its program is, without a number behind it.
      family=${1##*/}
      family=${family%% *}
      family=${family%%-[0-9]*}
      ;;
  esac
  version=
  for word in $first; do
    case $word in [0-9]*.[0-9]*) version=${word%%[!0-9.]*}; break ;; esac
  done
  [ -n "$version" ] || for word in $said; do
    case $word in [0-9]*.[0-9]*) version=${word%%[!0-9.]*}; break ;; esac
  done
  [ -n "$version" ] || return 1
  major=${version%%.*}
}

# kinds_of FLAGS...: sets `kinds`, the ending of the flavour's name (-i8, -r8, ...), and kind_flags, those that made it.
kinds_of() {
  integer='' real='' double='' names='' kind_flags='' before=
  for flag; do
    case $before$flag in
      -fdefault-integer-8 | -i8 | -integer-size=64 | -integer-size:64 | -qintsize=8 | -sinteger64 | '-s integer64') integer=-i8 ;;
      '-integer-size 64') integer=-i8 flag="$before$flag" ;;
      -fno-default-integer-8 | -i4) integer= ;;
      -fdefault-real-8 | -r8 | -Mr8 | -real-size=64 | -real-size:64 | -autodouble | -sreal64 | '-s real64') real=-r8 ;;
      '-real-size 64') real=-r8 flag="$before$flag" ;;
      -fno-default-real-8 | -r4) real= ;;
      -fdefault-double-8) double=-d8 ;;
      -fno-default-double-8) double= ;;
      -fno-underscoring) names=-u0 ;;
      -fsecond-underscore) names=-u2 ;;
      -funderscoring | -fno-second-underscore) names= ;;
      *)
        before=
        case $flag in -integer-size | -real-size | -s) before="$flag " ;; esac
        continue
        ;;
    esac
    before=
    kind_flags="$kind_flags${kind_flags:+ }$flag"
  done
  kinds=$integer$real$double$names
}

# places: sets `installed`, the folder of flavours of this installation, and `own`, that of the user who calls: for an
# installation that may not be written. It is named for the installation, as a user may have several.
places() {
  installed=$prefix/@ASHLAR_SUPPORT_SUBDIR@/fortran
  rest=${prefix#/} id=@PROJECT_VERSION@
  while :; do
    id=$id%${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) break ;; esac
  done
  own=
  cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  case $cache in /*) own=$cache/ashlar/fortran/$id ;; esac
  sources=$prefix/@CMAKE_INSTALL_DATADIR@/ashlar/fortran
}

# read_record FOLDER: the record of a flavour, as variables with r_ before the key in lower case. What a line holds is data.
read_record() {
  r_fc='' r_version='' r_flags='' r_stamp='' r_family='' r_int='' r_real='' r_descriptors=''
  [ -r "$1/flavour.conf" ] || return 1
  while IFS='=' read -r key value; do
    case $key in
      FC) r_fc=$value ;;
      FAMILY) r_family=$value ;;
      VERSION) r_version=$value ;;
      FLAGS) r_flags=$value ;;
      STAMP) r_stamp=$value ;;
      INT) r_int=$value ;;
      REAL) r_real=$value ;;
      DESCRIPTORS) r_descriptors=$value ;;
    esac
  done <"$1/flavour.conf"
}

# The sources of this installation have a number; a flavour has that of the sources it was made of.
read_stamp() {
  stamp=
  [ -r "$sources/stamp" ] && read -r stamp <"$sources/stamp"
  [ -n "$stamp" ]
}

# find_flavour NAME: sets `folder`, and `state`: right, stale (made of other sources), or missing. One that is right comes
# before one that is not, and the installation's before the user's.
find_flavour() {
  state=missing folder=
  read_stamp || die "$sources is not complete: no file stamp there. Install Ashlar MPI again."
  for place in "$installed" ${own:+"$own"}; do
    read_record "$place/$1" || continue
    if [ "$r_stamp" = "$stamp" ]; then
      state=right folder=$place/$1
      return 0
    fi
    [ -n "$folder" ] || state=stale folder=$place/$1
  done
}

# default_compiler: the compiler of the flavour that was added first, or else what a system usually has; sets compiler.
default_compiler() {
  compiler=
  for place in "$installed" ${own:+"$own"}; do
    if read_record "$place/default"; then
      compiler=$r_fc
      return 0
    fi
  done
  for compiler in gfortran flang flang-new ifx nvfortran; do
    command -v "$compiler" >/dev/null 2>&1 && return 0
  done
  compiler=gfortran
}
