#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/text_pool.h"
#include "framework/param/trust.h"
#include "framework/plugin/statement.h"

namespace ashlar::plugin {

/// One file of a component folder.
struct Entry {
  std::string file;           // whole path
  std::uint64_t bytes = 0;    // of the file the row was made from
  std::int64_t modified = 0;  // its time, in seconds: archives and packages keep no fractions
  Statement statement;
  std::string prefix;   // "transport.shm", of its parameters
  std::string refused;  // why it may not be opened; empty when it may
};

/// A folder of components and the manifest beside it (<folder>.manifest): one small file that says what each component
/// is, so that start-up reads one file, opens only what is chosen, and still knows every parameter.
/// The manifest is a cache that `register_folder` writes; a folder that changed since is looked through, and files
/// without a row are read by their statement, so a component that was dropped into the folder is found at once.
class Folder {
 public:
  /// Reads what lies in `path`. A folder that does not exist is empty. Manifest and components are judged by `trust`: a
  /// manifest that is refused is as good as none, a component that is refused says so.
  static Folder read(const std::string& path, const Accepts& kernel, param::TextPool* pool,
                     const param::Trust& trust = param::Trust::installed());
  /// The entries in the order of their file names. Addresses are stable.
  std::deque<Entry>& entries() { return entries_; }
  const std::deque<Entry>& entries() const { return entries_; }
  /// Files that had to be looked into because the manifest did not know them as they are.
  std::size_t looked_into() const { return looked_into_; }

  /// Reads every component of the folder anew and replaces its manifest (a rename, so readers see the old or the new
  /// one). Fails with MPI_ERR_OTHER when it cannot be written.
  static Status register_folder(const std::string& path, const Accepts& kernel);
  /// What `register_folder` would write now. Fails when there is no such folder.
  static Status manifest_text(const std::string& path, const Accepts& kernel, std::string* out);

 private:
  bool read_manifest(const std::string& path, const param::Trust& trust, std::int64_t folder_time,
                     param::TextPool* pool);
  void scan(const std::string& path, const Accepts& kernel, param::TextPool* pool);
  std::deque<Entry> entries_;
  std::size_t looked_into_ = 0;
};

/// Reads the statement of `file` and judges it; `refused` says what is wrong.
Entry examine(const std::string& file, const Accepts& kernel, param::TextPool* pool);

/// What is wrong with the manifest `path` (FOLDER.manifest): every line that differs from what `register_folder` would
/// write, with the field and both values, as "FILE:LINE: sentence". Fails when the file or its folder cannot be read.
Status check_manifest(const std::string& path, const Accepts& kernel, std::vector<std::string>* mistakes);

}  // namespace ashlar::plugin
