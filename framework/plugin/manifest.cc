#include "framework/plugin/manifest.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"

namespace ashlar::plugin {
namespace {

// One line per component (C), per parameter of the component above (P), per refused file (X); the last line (E) has
// their number. Fields are separated by tabs, words of a choice by kWord.
constexpr std::string_view kHeader = "ashlar-manifest 1\t";
constexpr char kWord = '\x1f';

std::int64_t folder_time(const struct stat& info) {
  return static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
}

void field(std::string* out, std::string_view text) {
  *out += '\t';
  for (const char c : text) *out += c == '\t' || c == '\n' ? ' ' : c;
}
void field(std::string* out, std::uint64_t number) { field(out, std::to_string(number)); }

// Walks the fields of a line that it cuts in place.
class Fields {
 public:
  explicit Fields(char* line) : at_(line) {}
  char* text() {
    char* field = at_;
    at_ = std::strchr(at_, '\t');
    if (at_) {
      *at_++ = '\0';
    } else {
      at_ = field + std::strlen(field);
    }
    return field;
  }
  template <class T>
  T number() {
    const char* from = text();
    T value{};
    std::from_chars(from, from + std::strlen(from), value);
    return value;
  }

 private:
  char* at_;
};

ashlar_param param_row(char* line, param::TextPool* pool) {
  Fields fields(line);
  ashlar_param p{};
  p.name = fields.text();
  p.type = static_cast<ashlar_param_type>(fields.number<int>());
  p.scope = fields.number<std::uint8_t>();
  p.verbosity = fields.number<std::uint8_t>();
  p.flags = fields.number<std::uint16_t>();
  p.offset = fields.number<std::uint32_t>();
  p.fallback = fields.text();
  p.help = fields.text();
  char* words = fields.text();
  if (*words) {
    std::vector<const char*> list;
    while (words) {
      list.push_back(words);
      words = std::strchr(words, kWord);
      if (words) *words++ = '\0';
    }
    list.push_back(nullptr);
    char* room = pool->take((list.size() + 1) * sizeof(char*));
    room += (sizeof(char*) - reinterpret_cast<std::uintptr_t>(room) % sizeof(char*)) % sizeof(char*);
    std::memcpy(room, list.data(), list.size() * sizeof(char*));
    p.choices = reinterpret_cast<const char* const*>(room);
  }
  return p;
}

void write_row(std::string* out, const Entry& e) {
  const std::string_view file = std::string_view(e.file).substr(e.file.rfind('/') + 1);
  const Statement& s = e.statement;
  *out += e.refused.empty() ? 'C' : 'X';
  field(out, file);
  field(out, e.bytes);
  field(out, static_cast<std::uint64_t>(e.modified));
  if (!e.refused.empty()) {
    field(out, e.refused);
    *out += '\n';
    return;
  }
  field(out, s.size);
  field(out, s.abi_major);
  field(out, s.abi_minor);
  field(out, s.framework);
  field(out, s.name);
  field(out, s.version);
  field(out, s.interface_version);
  field(out, s.config_size);
  field(out, s.build_id);
  field(out, s.description);
  *out += '\n';
  for (const ashlar_param& p : s.params) {
    *out += 'P';
    field(out, p.name);
    field(out, std::uint64_t{type_number(p)});
    field(out, p.scope);
    field(out, p.verbosity);
    field(out, p.flags);
    field(out, p.offset);
    field(out, p.fallback);
    field(out, p.help);
    *out += '\t';
    for (int i = 0; p.choices && p.choices[i]; ++i) {
      if (i) *out += kWord;
      *out += p.choices[i];
    }
    *out += '\n';
  }
}

// The whole file in the pool, ended by NUL; nullptr when it is not there or not trusted.
char* slurp(const std::string& path, const param::Trust& trust, param::TextPool* pool, std::size_t* length) {
  std::string text;
  if (!param::read_trusted(path, trust, &text).ok()) return nullptr;
  char* copy = pool->take(text.size() + 1);
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *length = text.size();
  return copy;
}

// A row names a file of its folder, not one elsewhere.
bool plain_name(std::string_view name) {
  return name.ends_with(".so") && !name.starts_with('.') && name.find('/') == std::string_view::npos;
}

// What a file without a readable statement was meant to be: ashlar_<framework>_<name>.so. Lets the selection of that
// framework say why it is not used.
void name_by_file(Entry* e, param::TextPool* pool) {
  std::string_view name = std::string_view(e->file).substr(e->file.rfind('/') + 1);
  if (!name.starts_with("ashlar_") || *e->statement.framework) return;
  name.remove_prefix(7);
  name.remove_suffix(3);
  const std::size_t underscore = name.find('_');
  if (underscore == std::string_view::npos) return;
  const std::string framework(name.substr(0, underscore));
  if (!find_framework(framework.c_str())) return;
  e->statement.framework = pool->keep(framework);
  e->statement.name = pool->keep(name.substr(underscore + 1));
  e->prefix = framework + "." + e->statement.name;
}

// A component is code that this process will run: its owner has to be trusted, whatever it says of itself.
void judge(Entry* e, const param::Trust& trust) {
  if (const Status status = param::check_trusted(e->file, trust); !status.ok()) e->refused = status.text();
}

}  // namespace

Entry examine(const std::string& file, const Accepts& kernel, param::TextPool* pool) {
  Entry e;
  e.file = file;
  struct stat info {};
  if (stat(file.c_str(), &info) == 0) {
    e.bytes = static_cast<std::uint64_t>(info.st_size);
    e.modified = info.st_mtim.tv_sec;
  }
  Status status = read_statement(file.c_str(), kernel, pool, &e.statement);
  if (status.ok()) status = acceptable(e.statement, kernel);
  if (!status.ok()) e.refused = status.text();
  e.prefix = std::string(e.statement.framework) + "." + e.statement.name;
  name_by_file(&e, pool);
  return e;
}

bool Folder::read_manifest(const std::string& path, const param::Trust& trust, std::int64_t time,
                           param::TextPool* pool) {
  std::size_t length = 0;
  char* line = slurp(path + ".manifest", trust, pool, &length);
  if (!line || std::strncmp(line, kHeader.data(), kHeader.size()) != 0) return false;
  std::int64_t written = 0;
  std::from_chars(line + kHeader.size(), line + length, written);
  Entry* component = nullptr;
  std::size_t rows = 0;
  for (line = std::strchr(line, '\n'); line && line[1];) {
    ++line;
    char* end = std::strchr(line, '\n');
    if (!end) break;  // a line without its end was not written whole
    *end = '\0';
    Fields fields(line + 2);
    if (*line == 'E' && fields.number<std::size_t>() == rows && !end[1]) return written == time;
    ++rows;
    if (*line == 'P' && component) {
      component->statement.params.push_back(param_row(line + 2, pool));
    } else if (*line == 'C' || *line == 'X') {
      const char* const name = fields.text();
      if (!plain_name(name)) break;
      component = &entries_.emplace_back();
      component->file = path + "/" + name;
      component->bytes = fields.number<std::uint64_t>();
      component->modified = fields.number<std::int64_t>();
      Statement& s = component->statement;
      if (*line == 'X') {
        component->refused = fields.text();
      } else {
        s.size = fields.number<std::uint32_t>();
        s.abi_major = fields.number<std::uint16_t>();
        s.abi_minor = fields.number<std::uint16_t>();
        s.framework = fields.text();
        s.name = fields.text();
        s.version = fields.text();
        s.interface_version = fields.number<std::uint32_t>();
        s.config_size = fields.number<std::uint32_t>();
        s.build_id = fields.number<std::uint64_t>();
        s.description = fields.text();
        component->prefix = std::string(s.framework) + "." + s.name;
      }
    }
    line = end;
  }
  // A manifest that lost rows would hide components, or give one the parameters of another: none of it counts.
  entries_.clear();
  return false;
}

void Folder::scan(const std::string& path, const Accepts& kernel, param::TextPool* pool) {
  DIR* dir = opendir(path.c_str());
  if (!dir) return;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".so") && !name.starts_with('.')) names.emplace_back(name);
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  std::deque<Entry> known;
  std::swap(known, entries_);
  for (const std::string& name : names) {
    const std::string file = path + "/" + name;
    struct stat info;
    if (stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const auto row = std::find_if(known.begin(), known.end(), [&](const Entry& e) { return e.file == file; });
    if (row != known.end() && row->bytes == static_cast<std::uint64_t>(info.st_size) &&
        row->modified == info.st_mtim.tv_sec) {
      entries_.push_back(std::move(*row));
      continue;
    }
    // Judged by read(), like the rows of the manifest.
    Entry& e = entries_.emplace_back();
    e.file = file;
    e.bytes = static_cast<std::uint64_t>(info.st_size);
    e.modified = info.st_mtim.tv_sec;
    if (Status status = read_statement(file.c_str(), kernel, pool, &e.statement); !status.ok())
      e.refused = status.text();
    e.prefix = std::string(e.statement.framework) + "." + e.statement.name;
    ++looked_into_;
  }
}

Folder Folder::read(const std::string& path, const Accepts& kernel, param::TextPool* pool, const param::Trust& trust) {
  Folder folder;
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return folder;
  if (!folder.read_manifest(path, trust, folder_time(info), pool)) folder.scan(path, kernel, pool);
  for (Entry& e : folder.entries_) {
    if (trust.judged) judge(&e, trust);
    if (e.refused.empty()) {
      if (Status status = acceptable(e.statement, kernel); !status.ok()) e.refused = status.text();
    }
    if (!e.refused.empty()) name_by_file(&e, pool);
  }
  return folder;
}

Status Folder::manifest_text(const std::string& path, const Accepts& kernel, std::string* out) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0)
    return fail(kErrNoSuchFile, "file.unreadable", {{"file", path}, {"lower", std::strerror(errno)}});
  param::TextPool pool;
  Folder folder;
  folder.scan(path, kernel, &pool);
  *out = std::string(kHeader) + std::to_string(folder_time(info)) + "\n";
  for (const Entry& e : folder.entries_) {
    Entry judged = e;
    // What another kernel would say of it is not this manifest's business, but a file that no kernel can use is not
    // worth looking into at every start.
    if (judged.refused.empty() && judged.statement.abi_major != ASHLAR_COMPONENT_MAJOR &&
        !kernel.adapter_of(judged.statement.abi_major))
      judged.refused = acceptable(judged.statement, kernel).text();
    write_row(out, judged);
  }
  const auto rows = std::count(out->begin(), out->end(), '\n') - 1;
  *out += "E\t" + std::to_string(rows) + "\n";
  return {};
}

Status Folder::register_folder(const std::string& path, const Accepts& kernel) {
  std::string text;
  ASHLAR_TRY(manifest_text(path, kernel, &text));
  const std::string target = path + ".manifest", draft = target + "." + std::to_string(getpid());
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return fail(kErrOther, "file.not_written", {{"file", target}, {"lower", std::strerror(errno)}});
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  ::close(fd);
  if (written && ::rename(draft.c_str(), target.c_str()) == 0) return {};
  ::unlink(draft.c_str());
  return fail(kErrOther, "file.not_written", {{"file", target}, {"lower", std::strerror(written ? errno : error)}});
}

}  // namespace ashlar::plugin
