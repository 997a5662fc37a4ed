#include "tests/unit/rma/mixture.h"

#include <algorithm>

namespace ashlar::rma::test {

template <class T>
void Mixer::run(void* target, MPI_Op op, MPI_Datatype type, const T* in, MPI_Count n, T* out) {
  if (!far_ || below(2) == 0) return add(guard_, nullptr, at(target), op, type, in, n, out);
  Datatype& element = type_of(type);
  const Call call{.op = op,
                  .element = &element,
                  .origin = op != MPI_NO_OP ? DataView::of(in, n, element) : DataView{},
                  .result = out != nullptr ? DataView{.data = out, .count = n, .type = &element} : DataView{},
                  .place = {.offset = at(target), .count = n, .type = &element}};
  Target aim;
  NearMemory memory(0);
  int failed = 0;
  if (!apply_far(guard_, memory, update_of(call, aim), 0, &failed).ok() || failed != 0) wrong = "apply_far failed";
}

void Mixer::add_row() {
  const std::size_t sizes[] = {1, 1, 3, 16, 64, 200, Words::kRow};
  const std::size_t n = sizes[below(7)], first = below(Words::kRow - n + 1);
  std::vector<std::int64_t> ones(n, 1), was(n);
  const bool fetches = below(3) == 0;
  run(&words_.sums[first], MPI_SUM, MPI_INT64_T, ones.data(), static_cast<MPI_Count>(n),
      fetches ? was.data() : nullptr);
  for (std::size_t i = 0; i < n; ++i) ++sums[first + i];
}

// Each reading is at least as great as the one before.
void Mixer::read_growing() {
  std::vector<std::int64_t> now(Words::kRow);
  run<std::int64_t>(words_.growing, MPI_NO_OP, MPI_INT64_T, nullptr, Words::kRow, now.data());
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] < seen_[i])
      wrong = "a growing word fell from " + std::to_string(seen_[i]) + " to " + std::to_string(now[i]);
    seen_[i] = now[i];
  }
}

void Mixer::step() {
  const std::int64_t one = 1, zero = 0;
  switch (below(11)) {
    case 0:
    case 1:
      return add_row();
    case 2: {
      std::int64_t ticket = 0;
      run(&words_.tickets[0], MPI_SUM, MPI_INT64_T, &one, 1, &ticket);
      tickets.push_back(ticket);
      // The range path touches the same word without changing it.
      const std::int64_t none[8] = {};
      return run(words_.tickets, MPI_SUM, MPI_INT64_T, none, 8);
    }
    case 3: {
      std::int64_t expected = 0;
      run<std::int64_t>(&words_.swapped[0], MPI_NO_OP, MPI_INT64_T, nullptr, 1, &expected);
      const std::int64_t found =
          swap<std::int64_t>(guard_, nullptr, at(&words_.swapped[0]), MPI_INT64_T, expected, expected + 1);
      if (found == expected) ++swaps;
      return run(&words_.swapped[0], MPI_BOR, MPI_INT64_T, &zero, 1);
    }
    case 4: {
      const std::int64_t mine = (static_cast<std::int64_t>(number_ + 1) << 32) + ++last;
      std::int64_t was = 0;
      run(&words_.chain[0], MPI_REPLACE, MPI_INT64_T, &mine, 1, &was);
      return replaced.push_back(was);
    }
    case 5: {
      const auto drawn = static_cast<std::int64_t>(random_() >> 8);
      std::vector<std::int64_t> row(Words::kRow, drawn);
      largest = std::max(largest, drawn);
      smallest = std::min(smallest, -drawn);
      run(words_.most, MPI_MAX, MPI_INT64_T, row.data(), Words::kRow);
      for (std::int64_t& v : row) v = -v;
      run(words_.least, MPI_MIN, MPI_INT64_T, row.data(), 40);
      return run(&words_.least[40], MPI_MIN, MPI_INT64_T, &row[40], static_cast<MPI_Count>(Words::kRow) - 40);
    }
    case 6:
      if (number_ != 0) return read_growing();
      ++last;
      {
        const std::vector<std::int64_t> row(Words::kRow, last);
        return run(words_.growing, MPI_REPLACE, MPI_INT64_T, row.data(), Words::kRow);
      }
    case 7: {
      const std::vector<std::int32_t> row(Words::kRow, 1);
      run(words_.narrow, MPI_SUM, MPI_INT32_T, row.data(), below(2) == 0 ? MPI_Count{Words::kRow} : 1);
      ++narrow;
      return;
    }
    case 8: {
      const std::vector<double> row(Words::kRow, 1);
      run(words_.reals, MPI_SUM, MPI_DOUBLE, row.data(), below(2) == 0 ? MPI_Count{Words::kRow} : 2);
      ++reals;
      return;
    }
    case 9: {
      const double both[2] = {1, 1};
      double was[2] = {};
      run(words_.complexes[3], MPI_SUM, MPI_C_DOUBLE_COMPLEX, both, 1, was);
      if (was[0] != was[1]) wrong = "a complex number was half old, half new";
      ++complex;
      return;
    }
    default: {
      std::vector<std::int64_t> row(64, 1);
      run(words_.misaligned + 4, MPI_SUM, MPI_INT64_T, row.data(), below(2) == 0 ? 64 : 1);
      ++misaligned;
      return;
    }
  }
}

void begin(Words& words) { words = Words{}; }

void merge(Mixer& all, const Mixer& one) {
  for (std::size_t i = 0; i < Words::kRow; ++i) all.sums[i] += one.sums[i];
  all.tickets.insert(all.tickets.end(), one.tickets.begin(), one.tickets.end());
  all.replaced.insert(all.replaced.end(), one.replaced.begin(), one.replaced.end());
  all.swaps += one.swaps;
  all.narrow += one.narrow;
  all.reals += one.reals;
  all.complex += one.complex;
  all.misaligned += one.misaligned;
  all.largest = std::max(all.largest, one.largest);
  all.smallest = std::min(all.smallest, one.smallest);
  if (all.wrong.empty()) all.wrong = one.wrong;
}

std::string verdict(const Words& words, const Mixer& all) {
  if (!all.wrong.empty()) return all.wrong;
  const auto expect = [](const char* what, auto is, auto wanted) -> std::string {
    if (is == wanted) return "";
    return std::string(what) + " is " + std::to_string(is) + ", not " + std::to_string(wanted);
  };
  std::string bad;
  const auto note = [&](const std::string& found) {
    if (bad.empty()) bad = found;
  };
  for (std::size_t i = 0; i < Words::kRow; ++i) {
    note(expect("a sum", words.sums[i], all.sums[i]));
    note(expect("a maximum", words.most[i], all.largest));
    note(expect("a minimum", words.least[i], all.smallest));
  }
  std::vector<std::int64_t> tickets = all.tickets;
  std::sort(tickets.begin(), tickets.end());
  for (std::size_t i = 0; i < tickets.size(); ++i) note(expect("a ticket", tickets[i], static_cast<std::int64_t>(i)));
  note(expect("the next ticket", words.tickets[0], static_cast<std::int64_t>(tickets.size())));
  note(expect("the swapped word", words.swapped[0], all.swaps));
  // Every number that was there has been found once: the results and the last number make one chain.
  std::vector<std::int64_t> chain = all.replaced;
  chain.push_back(words.chain[0]);
  std::sort(chain.begin(), chain.end());
  if (std::adjacent_find(chain.begin(), chain.end()) != chain.end()) note("a replaced number was found twice");
  if (!all.replaced.empty()) note(expect("the first number of the chain", chain[0], std::int64_t{0}));
  note(expect("a narrow sum", std::int64_t{words.narrow[0]}, all.narrow));
  note(expect("a real sum", words.reals[0], static_cast<double>(all.reals)));
  note(expect("a real sum", words.reals[1], static_cast<double>(all.reals)));
  note(expect("a complex sum", words.complexes[3][0], static_cast<double>(all.complex)));
  std::int64_t misaligned = 0;
  std::memcpy(&misaligned, words.misaligned + 4, sizeof misaligned);
  note(expect("a misaligned sum", misaligned, all.misaligned));
  return bad;
}

}  // namespace ashlar::rma::test
