# Random collectives: seeds, and ways through the components: each algorithm of a node for all that it can serve, several
# nodes on one machine, without single copies, in the order of ranks, with every call compared.
ashlar_mpi_test(coll_random NP 1 2 3 4 7 16 QUICK 3 TIMEOUT 180 ARGS 1 150)

# random_collectives(name ranks SEED n [SET parameter=value ...] [FORCE algorithm collective ...])
function(random_collectives name ranks)
  cmake_parse_arguments(R "" "SEED" "SET;FORCE" ${ARGN})
  list(POP_FRONT R_FORCE algorithm)
  list(TRANSFORM R_FORCE REPLACE "(.+)" "coll.\\1.algorithm=${algorithm}" OUTPUT_VARIABLE forced)
  ashlar_mpi_run(coll_random ${name} ${ranks} ARGS ${R_SEED} 200 SET ${R_SET} ${forced} TIMEOUT 180)
endfunction()

set(with_data bcast reduce allreduce gather scatter allgather alltoall reduce_scatter reduce_scatter_block scan exscan)
random_collectives(seed2 2 SEED 2)
random_collectives(seed3 4 SEED 3)
# As beside processes that compute on the same cores: after the first yield every wait sleeps at once.
foreach(ranks 2 4 7)
  random_collectives(contended.${ranks} ${ranks} SEED 8 SET progress.long_yield=0 progress.long_yield_oversubscribed=0
    progress.yield_retry=1s progress.yield_retry_oversubscribed=1s)
endforeach()
foreach(ranks 2 3 7 16)
  random_collectives(shm.${ranks} ${ranks} SEED 4 FORCE shm barrier gatherv scatterv ${with_data})
  random_collectives(shm_large.${ranks} ${ranks} SEED 5 FORCE shm_large bcast reduce allreduce SET coll.shm.piece=4KiB)
  random_collectives(direct.${ranks} ${ranks} SEED 6 FORCE direct ${with_data})
endforeach()
random_collectives(prefetched 4 SEED 15 FORCE direct ${with_data} SET coll.shm.prefetch_from=0)
# Without what is only faster on some machines.
random_collectives(choices_off 4 SEED 16 SET coll.shm.prefetch_from=1TiB coll.shm.poll_for_root=false
  coll.shm.yield_to_root=false)
random_collectives(no_single_copy 3 SEED 7 SET coll.shm.single_copy=false)
random_collectives(nodes 5 SEED 8 SET coll.node_size=2)
foreach(ranks 5 16)
  random_collectives(hier.${ranks} ${ranks} SEED 9 SET coll.node_size=3 FORCE hier barrier ${with_data})
endforeach()
foreach(ranks 5 16)
  random_collectives(pieces.${ranks} ${ranks} SEED 17 SET coll.node_size=3 ${in_pieces})
endforeach()
random_collectives(pieces.messages 8 SEED 18 SET coll.node_size=4 coll=^shm ${in_pieces})
random_collectives(messages 3 SEED 10 SET coll=p2p,inter)
random_collectives(reference 3 SEED 11 SET coll.reference=true)
random_collectives(reproducible 3 SEED 12 SET coll.reproducible=true)
random_collectives(checked 3 SEED 13 SET check.collectives=true)
random_collectives(background 2 SEED 14 SET progress.thread=true)
