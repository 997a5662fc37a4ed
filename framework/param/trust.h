#pragma once
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "framework/base/status.h"

namespace ashlar::param {

/// Whether this process has more rights than the user who started it: set-user-ID, set-group-ID, file capabilities
/// (AT_SECURE). Such a process obeys nothing that this user controls.
bool elevated() noexcept;

/// Who may have written a file for it to be obeyed. What a file or folder does not fulfil is a refusal, with a sentence
/// that says what to do.
struct Trust {
  static constexpr uid_t kNobodyElse = static_cast<uid_t>(-1);

  bool judged = true;              // false: as trusted as the library itself, whatever its owner
  bool any_owner = false;          // the user named this very file
  uid_t also_owner = kNobodyElse;  // besides the user and root
  bool group_may_write = false;    // true: the user named a place that a group shares

  /// What lies in the installation or in /etc: links, owners and modes are the site's business.
  static constexpr Trust installed() { return {.judged = false}; }
  /// What was looked for, in the user's home or the folder of the moment: the user's own or root's, and no other user
  /// may write to it or put another file in its place. A group may when it is the user's private one.
  static constexpr Trust found() { return {}; }
  /// What a parameter names.
  static constexpr Trust named() { return {.any_owner = true, .group_may_write = true}; }
  /// A file in a folder that a parameter names: `owner` is the folder's.
  static constexpr Trust in_named_folder(uid_t owner) { return {.also_owner = owner, .group_may_write = true}; }
};

/// No configuration file, manifest or rule file is larger.
inline constexpr std::size_t kLargestText = std::size_t{1} << 20;

/// Opens a regular file for reading; never waits, whatever lies there. Links are followed when their owner is trusted.
/// Fails with MPI_ERR_NO_SUCH_FILE when there is none, MPI_ERR_OTHER when it is refused, MPI_ERR_ARG when a file that
/// would be trusted cannot be read. The sentence names the file. The caller closes *fd.
Status open_trusted(const std::string& path, const Trust& trust, int* fd);

/// Whether open_trusted would open it, without opening it: for files of which most are never needed.
Status check_trusted(const std::string& path, const Trust& trust);

/// The text of such a file, at most `largest` bytes; a larger one fails with MPI_ERR_ARG.
Status read_trusted(const std::string& path, const Trust& trust, std::string* out, std::size_t largest = kLargestText);

/// Whether what lies in the folder `path`, which a parameter names, may be loaded. *owner is the folder's. Fails as
/// open_trusted.
Status check_folder(const std::string& path, uid_t* owner);

}  // namespace ashlar::param
