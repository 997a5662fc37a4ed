! Topologies in Fortran: grids with their LOGICALs, graphs, weights and the constants that stand for none, and collectives among
! neighbours in all forms.
#include "method.fh"
program graphs
  USE_MPI
  implicit none
  INCLUDE_MPI
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer :: rank, size, next, before, ierror, wrong = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
  next = mod(rank + 1, size)
  before = mod(rank + size - 1, size)
  call grid
  call graph
  call weighted
  call adjacent
  call without_weights
  call neighbours
  call MPI_Finalize(ierror)
  if (wrong /= 0) error stop
contains
#include "see.fh"

  ! Only as many LOGICALs as there are dimensions are written.
  subroutine grid
    integer :: dims(2), shape(4), coords(4), ndims, found, newrank, kind
    logical :: periods(2), around(4), remain(2)
    COMM_T :: cart, line
    dims = [size, 1]
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierror)
    call MPI_Topo_test(cart, kind, ierror)
    call MPI_Cartdim_get(cart, ndims, ierror)
    call see(kind == MPI_CART .and. ndims == 2, 'MPI_Topo_test of a grid')
    shape = -7
    coords = -7
    around = .true.
    call MPI_Cart_get(cart, 2, shape, around, coords, ierror)
    call see(all(shape == [size, 1, -7, -7]) .and. all(coords == [rank, 0, -7, -7]), 'numbers of MPI_Cart_get')
    call see(all(around .eqv. [.true., .false., .true., .true.]), 'LOGICALs of MPI_Cart_get')
    around = .false.
    call MPI_Cart_get(cart, 2, shape, around, coords, ierror)
    call see(all(around .eqv. [.true., .false., .false., .false.]), 'LOGICALs of MPI_Cart_get that stay false')
    call MPI_Cart_rank(cart, [size + rank, 0], found, ierror)
    call see(found == rank, 'MPI_Cart_rank around the grid')
    call MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, newrank, ierror)
    call see(newrank >= 0 .and. newrank < size, 'MPI_Cart_map')
    remain = [.false., .true.]
    call MPI_Cart_sub(cart, remain, line, ierror)
    call MPI_Comm_size(line, found, ierror)
    call see(found == 1, 'MPI_Cart_sub')
    call MPI_Comm_free(line, ierror)
    call MPI_Comm_free(cart, ierror)
    call see(cart == MPI_COMM_NULL, 'the handle of a freed grid')
  end subroutine grid

  subroutine graph
    integer :: indx(size), edges(2 * size), got_indx(size), got_edges(2 * size), peers(2), nodes, many, i
    COMM_T :: ring
    indx = [(2 * i, i = 1, size)]
    do i = 0, size - 1
      edges(2 * i + 1) = mod(i + size - 1, size)
      edges(2 * i + 2) = mod(i + 1, size)
    end do
    call MPI_Graph_create(MPI_COMM_WORLD, size, indx, edges, .false., ring, ierror)
    call MPI_Graphdims_get(ring, nodes, many, ierror)
    call see(nodes == size .and. many == 2 * size, 'MPI_Graphdims_get')
    call MPI_Graph_get(ring, size, 2 * size, got_indx, got_edges, ierror)
    call see(all(got_indx == indx) .and. all(got_edges == edges), 'MPI_Graph_get')
    call MPI_Graph_neighbors_count(ring, rank, many, ierror)
    call MPI_Graph_neighbors(ring, rank, 2, peers, ierror)
    call see(many == 2 .and. all(peers == [before, next]), 'MPI_Graph_neighbors')
    call MPI_Comm_free(ring, ierror)
  end subroutine graph

  subroutine expect(ring, weights, which, from_weights, to_weights)
    COMM_T, intent(inout) :: ring
    logical, intent(in) :: weights
    character(*), intent(in) :: which
    integer, intent(in) :: from_weights, to_weights
    integer :: in, out, from(1), to(1), of_from(1), of_to(1)
    logical :: flag
    flag = .not. weights
    call MPI_Dist_graph_neighbors_count(ring, in, out, flag, ierror)
    call see(in == 1 .and. out == 1 .and. (flag .eqv. weights), which // ': MPI_Dist_graph_neighbors_count')
    of_from = -7
    of_to = -7
    if (weights) then
      call MPI_Dist_graph_neighbors(ring, 1, from, of_from, 1, to, of_to, ierror)
      call see(of_from(1) == from_weights .and. of_to(1) == to_weights, which // ': weights')
    else
      call MPI_Dist_graph_neighbors(ring, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, ierror)
    end if
    call see(from(1) == before .and. to(1) == next, which // ': neighbours')
    call MPI_Comm_free(ring, ierror)
  end subroutine expect

  ! The edges of all are named by one rank, as many as there are.
  subroutine weighted
    integer :: sources(size), degrees(size), destinations(size), weights(size), i
    COMM_T :: ring
    sources = [(i, i = 0, size - 1)]
    degrees = 1
    destinations = [(mod(i + 1, size), i = 0, size - 1)]
    weights = [(100 + i, i = 0, size - 1)]
    if (rank == size - 1) then
      call MPI_Dist_graph_create(MPI_COMM_WORLD, size, sources, degrees, destinations, weights, MPI_INFO_NULL, .false., ring, &
                                 ierror)
    else
      call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, sources, degrees, destinations, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., &
                                 ring, ierror)
    end if
    call expect(ring, .true., 'weights', 100 + before, 100 + rank)
  end subroutine weighted

  subroutine adjacent
    COMM_T :: ring
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], [5], 1, [next], [6], MPI_INFO_NULL, .false., ring, ierror)
    call expect(ring, .true., 'adjacent', 5, 6)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [before], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., ring, ierror)
    call expect(ring, .false., 'adjacent without weights', 0, 0)
  end subroutine adjacent

  subroutine without_weights
    COMM_T :: ring
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [next], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierror)
    call expect(ring, .false., 'without weights', 0, 0)
  end subroutine without_weights

  ! Three forms of each: blocking, nonblocking, persistent. The w forms have displacements in bytes, of INTEGER(MPI_ADDRESS_KIND).
  subroutine neighbours
    integer, asynchronous :: a(2), b(2)
    integer :: counts(2), displs(2), expected(2), edge
    integer(address) :: places(2)
    DATATYPE_T :: kinds(2)
    REQUEST_T :: request
    COMM_T :: ring
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [size], [.true.], .false., ring, ierror)
    counts = 1
    displs = [1, 0] ! what comes from the rank before is stored behind
    places = displs * (storage_size(rank) / 8)
    kinds = MPI_INTEGER
    edge = 10 * rank
    a = [edge + 1, edge + 2]
    expected = [10 * before + 2, 10 * next + 1]
    if (size == 1) expected = [2, 1]
    b = -1
    call MPI_Neighbor_allgather(edge, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierror)
    call see(all(b == [10 * before, 10 * next]), 'MPI_Neighbor_allgather')
    call MPI_Neighbor_alltoall(a, 1, MPI_INTEGER, b, 1, MPI_INTEGER, ring, ierror)
    call see(all(b == expected), 'MPI_Neighbor_alltoall')
    b = -1
    call MPI_Ineighbor_alltoallv(a, counts, [0, 1], MPI_INTEGER, b, counts, displs, MPI_INTEGER, ring, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(b(2:1:-1) == expected), 'MPI_Ineighbor_alltoallv')
    b = -1
    call MPI_Ineighbor_allgatherv(edge, 1, MPI_INTEGER, b, counts, displs, MPI_INTEGER, ring, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(b(2:1:-1) == [10 * before, 10 * next]), 'MPI_Ineighbor_allgatherv')
    b = -1
    call MPI_Ineighbor_alltoallw(a, counts, places(2:1:-1), kinds, b, counts, places, kinds, ring, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(b(2:1:-1) == expected), 'MPI_Ineighbor_alltoallw')
    b = -1
    call MPI_Neighbor_alltoallw_init(a, counts, places(2:1:-1), kinds, b, counts, places, kinds, ring, MPI_INFO_NULL, request, &
                                     ierror)
    call MPI_Start(request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call see(all(b(2:1:-1) == expected), 'MPI_Neighbor_alltoallw_init')
    call MPI_Request_free(request, ierror)
    call MPI_Comm_free(ring, ierror)
  end subroutine neighbours
end program graphs
