#!/bin/sh
# The commands of docs/writing-a-component.md, in their order, in an empty folder beside an installation: a vendor's first
# hour. The examples see nothing of this tree.
. "$(dirname "$0")/common.sh"
prefix=$WORK/prefix
DESTDIR='' cmake --install "$BUILD" --prefix "$prefix" >install.log || { cat install.log; fail "installation"; }
export prefix HOME="$WORK" CFLAGS="-Wall -Wextra -Werror"
unset ASHLAR_plugin_path ASHLAR_transport || true
mkdir vendor
cd vendor
sed -n '/^```sh$/,/^```$/p' "$SOURCE/docs/writing-a-component.md" | grep -v '^```' >commands.sh
[ "$(grep -c . commands.sh)" -gt 15 ] || fail "the page has no commands"
sh -eux ./commands.sh >said.txt 2>&1 || { cat said.txt; fail "a command of the page"; }
expect() { grep -q "$1" said.txt || { cat said.txt; fail "'$1' is not said"; }; }
expect ' tests, 0 wrong'
expect 'pipes (priority 5): 4 of 4 processes are on this machine'
expect 'Bytes of messages that may wait'
expect 'allreduce_example_doubling: every number of ranks and every size'
expect '^calls: 4 ranks'
expect '^MPI_Init'
expect "^watch: 'ordered.txt': .* the slowest took"
expect 'watch (priority 60): it watches whatever file it can stand in front of'
[ "$(cat ordered.txt)" = "$(yes 'a line' | head -4)" ] || fail "the file has other lines: $(cat ordered.txt)"
for so in "$prefix/${LIBDIR:-lib}"/ashlar/components/ashlar_*_pipes.so "$prefix/${LIBDIR:-lib}"/ashlar/components/ashlar_tool_calls.so; do
  nm -D --undefined-only "$so" | grep -i 'ashlar\|mpi' && fail "$so needs symbols of ours"
done

# An example that crashes where its author made a mistake.
sed 's/i->head.ops = &iface_ops;/i->head.ops = NULL;/; s/config->capacity/*(uint64_t*)8/' pipes/pipes.c >broken.c
cc -shared -fPIC -I "$prefix/${INCLUDEDIR:-include}" broken.c -o ashlar_transport_broken.so
"$prefix/bin/ashlar_component_check" ashlar_transport_broken.so >said.txt && fail "the broken transport is accepted"
expect 'ends the process by signal 11'
echo ok
