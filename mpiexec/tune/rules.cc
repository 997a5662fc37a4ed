#include "mpiexec/tune/rules.h"

#include <cstdio>

#include "framework/base/bytes_text.h"

namespace ashlar::tune {
namespace {

std::string size_text(MPI_Count bytes) { return bytes_text(static_cast<std::uint64_t>(bytes)); }

/// A run of sizes with one algorithm.
struct Row {
  std::string algorithm;
  MPI_Count last;
};

}  // namespace

std::string tuning_file(const std::vector<Point>& points, const coll::Shape& shape, const std::string& origin,
                        double tolerance) {
  std::string group = "nodes: " + std::to_string(shape.nodes);
  if (shape.nodes > 1) group += ", node_ranks: " + std::to_string(shape.node_ranks);
  group += ", ranks: " + std::to_string(shape.ranks);
  std::string out = "# Made by ashlar_tune; its form: man ashlar-tuning.\nschema: 1\norigin: " + origin + "\n";
  for (std::size_t i = 0; i < points.size();) {
    std::vector<Row> rows;
    std::size_t end = i;
    for (; end < points.size() && points[end].what == points[i].what; ++end) {
      const Point& point = points[end];
      if (point.figures.empty()) continue;
      const Figure& best = point.figures.front();
      const Figure* const same = rows.empty() ? nullptr : point.of(rows.back().algorithm);
      if (same != nullptr && same->seconds <= best.seconds * (1 + tolerance)) {
        rows.back().last = point.bytes;
      } else {
        rows.push_back({best.algorithm, point.bytes});
      }
    }
    if (!rows.empty()) out += "\n" + std::string(coll::name_of(points[i].what)) + ":\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      // The last row goes on; the others end where the next measured size begins to be better.
      const std::string bytes = r + 1 < rows.size() ? ", bytes: .." + size_text(rows[r].last) : "";
      out += "  row" + std::to_string(r + 1) + ": {" + group + bytes + ", use: " + rows[r].algorithm + "}\n";
    }
    i = end;
  }
  return out;
}

std::vector<std::string> outdated(const std::vector<Point>& points, double tolerance) {
  std::vector<std::string> out;
  for (const Point& point : points) {
    const Figure* const chosen = point.of(point.chosen);
    if (chosen == nullptr || point.figures.empty()) continue;
    const Figure& best = point.figures.front();
    if (chosen->seconds <= best.seconds * (1 + tolerance)) continue;
    char line[400];
    std::snprintf(line, sizeof line, "%s %s: %s takes %.2f us (%s), but %s takes %.2f us", coll::name_of(point.what),
                  size_text(point.bytes).c_str(), point.chosen.c_str(), chosen->seconds * 1e6, point.origin.c_str(),
                  best.algorithm.c_str(), best.seconds * 1e6);
    out.emplace_back(line);
  }
  return out;
}

}  // namespace ashlar::tune
