#include "mpiexec/info/tuning_schema.h"

#include <map>
#include <string_view>

#include "framework/coll/collective.h"
#include "framework/param/units.h"
#include "mpiexec/info/json_builder.h"
#include "mpiexec/info/schema_values.h"

namespace ashlar::info {
namespace {

using plugin::json_string;

std::string described(const std::string& text, Json schema) {
  return schema.add("description", json_string(text)).text();
}

/// A number with or without a unit, as a part of a regular expression.
std::string size_pattern() {
  std::string units;
  for (const param::Unit& unit : param::kByteUnits)
    if (!unit.name.empty()) units += (units.empty() ? "" : "|") + std::string(unit.name);
  return "(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)[ \\t]*(?:" + units + ")?[ \\t]*";
}

Json number_like(const std::string& pattern, const char* least, const std::string& wanted) {
  Json schema('{');
  schema.add("type", R"(["integer","string"])")
      .add("minimum", least)
      .add("pattern", json_string("^(?:" + pattern + ")$"));
  schema.add("patternErrorMessage", json_string(wanted));
  return schema;
}

Json range_like(const std::string& wanted) {
  const std::string size = size_pattern();
  return number_like("(?:" + size + ")?\\.\\.(?:" + size + ")?|" + size, "0", wanted);
}

/// The settings of a row but `use`, each by its name.
std::map<std::string, std::string> conditions() {
  const std::string sizes = "This must be a range of sizes, such as ..4KiB, 1KiB..64KiB or 1MiB...";
  const std::string counts = "This must be a range of numbers, such as 2..8, 16 or 32...";
  const std::string above = "This must be a whole number above ";
  std::map<std::string, std::string> all;
  all["bytes"] = described("Holds for calls whose quantity is in the range, both ends included.", range_like(sizes));
  all["ranks"] = described("Holds for communicators of so many ranks.", range_like(counts));
  all["nodes"] = described("Holds for communicators whose ranks are on so many nodes.", range_like(counts));
  all["node_ranks"] = described("Holds for communicators whose fullest node has so many of them.", range_like(counts));
  all["bandwidth"] =
      described("Holds when the network between the nodes brings so many bytes a second, as the ranks have measured.",
                range_like(sizes));
  Json commutative('{');
  commutative.add("enum", R"([true,false,"true","false","yes","no"])");
  all["commutative"] = described("Holds for reductions whose operation commutes, or does not.", commutative);
  all["segment"] = described("Bytes per piece, for pipelined algorithms.",
                             number_like(size_pattern(), "0", "This must be a size, such as 64KiB."));
  all["window"] =
      described("Operations in flight, for linear algorithms.", number_like("0*[1-9][0-9]*", "1", above + "0."));
  all["radix"] = described("Of k-nomial trees.", number_like("0*(?:[2-9]|[1-9][0-9]+)", "2", above + "1."));
  all["leaders"] = described("Ranks of each node that exchange pieces with other nodes, in turn.",
                             number_like("0*[1-9][0-9]*", "1", above + "0."));
  all["note"] = described("Free text.", Json('{').add("type", R"(["string","number","boolean"])"));
  return all;
}

std::string use_schema(coll::Catalogue& catalogue, coll::Collective collective) {
  Json names('[');
  for (const coll::CatalogueEntry& entry : catalogue.entries())
    if (entry.algorithm->collective == collective) names.add(json_string(entry.algorithm->name));
  return described("The algorithm that serves the calls; when it cannot, the next row that applies is tried.",
                   Json('{').add("enum", names.text()));
}

/// A row of a collective, as a map.
std::string row_schema(const std::string& collective) {
  Json properties('{');
  properties.add("use", reference("use." + collective));
  for (const auto& [name, schema] : conditions()) properties.add(name, reference(name));
  return Json('{')
      .add("description",
           json_string("A row: conditions that must all hold, and what to use then. The first one wins."))
      .add("type", R"("object")")
      .add("required", R"(["use"])")
      .add("properties", properties.text())
      .add("additionalProperties", "false")
      .text();
}

/// Names with dots mean the same as maps: "small.use" below a collective.
void add_dotted(const std::string& prefix, const std::string& collective, Json* patterns) {
  const std::string row = prefix + "[^.]+";
  patterns->add("^" + row + "\\.use$", reference("use." + collective));
  for (const auto& [name, schema] : conditions()) patterns->add("^" + row + "\\." + name + "$", reference(name));
  patterns->add("^" + row + "$", reference("row." + collective));
}

}  // namespace

std::string tuning_schema(coll::Catalogue& catalogue, const std::string& version) {
  Json definitions('{'), properties('{'), whole_patterns('{');
  for (const auto& [name, schema] : conditions()) definitions.add("\n" + json_string(name) + ":" + schema);
  properties.add("schema", described("The form of this file: 1.", Json('{').add("enum", R"([1,"1"])")));
  properties.add("origin", described("Who measured what, on which machine, and when.",
                                     Json('{').add("type", R"(["string","number","boolean"])")));
  for (int i = 0; i < coll::kCollectives; ++i) {
    const auto collective = static_cast<coll::Collective>(i);
    const std::string name = coll::name_of(collective);
    Json patterns('{');
    add_dotted("", name, &patterns);
    definitions.add("\n" + json_string("use." + name) + ":" + use_schema(catalogue, collective));
    definitions.add("\n" + json_string("row." + name) + ":" + row_schema(name));
    properties.add("\n  " + json_string(name) + ":" +
                   Json('{')
                       .add("description", json_string("Rows in the order in which they are tried. bytes counts " +
                                                       std::string(coll::quantity_of(collective)) + "."))
                       .add("type", R"("object")")
                       .add("patternProperties", patterns.text())
                       .add("additionalProperties", "false")
                       .text());
    add_dotted(name + "\\.", name, &whole_patterns);
  }
  return Json('{')
             .add("$schema", R"("http://json-schema.org/draft-07/schema#")")
             .add("title", json_string("Tuning files of Ashlar MPI " + version))
             .add("type", R"(["object","null"])")  // a file of comments is in order
             .add("properties", properties.text())
             .add("patternProperties", whole_patterns.text())
             .add("additionalProperties", "false")
             .add("definitions", definitions.text())
             .text() +
         "\n";
}

}  // namespace ashlar::info
