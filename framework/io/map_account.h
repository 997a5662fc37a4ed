#pragma once
#include <algorithm>
#include <limits>

namespace ashlar::io {

/// Whether a range of a file is worth a mapping: what accesses to it would have saved by one, against the page faults
/// that a new one brings. Ski rental: a range that is accessed once is never mapped, and one that accesses come back to
/// costs at most twice what it would have cost had that been known. Pages of a mapping may fault again and again,
/// because the system writes them to the device in between; so a mapping that loses is given up after two accesses or
/// some more, and the next one is eight times as dear, until one has paid for itself. Nanoseconds.
class MapAccount {
 public:
  /// `price`: of the page faults of a new mapping.
  explicit MapAccount(double price = std::numeric_limits<double>::infinity()) : faults_(price), price_(price) {}

  /// An access went another way.
  void passed_by(double would_save) { saved_ += std::max(would_save, 0.0); }
  bool worth_it() const { return saved_ >= price_; }
  /// It is mapped now, or the pages of its mapping are to fault again.
  void start_anew() { saved_ = 0; }
  /// An access went through the mapping that is there. False: it is to be given up.
  bool used(double saved) {
    saved_ = std::min(saved_ + std::max(saved, -kMostLoss * faults_), faults_);
    if (saved_ >= faults_) price_ = faults_;
    if (saved_ >= -faults_) return true;
    price_ *= kDearer;
    saved_ = 0;
    return false;
  }
  /// It cannot be mapped.
  void never() { price_ = std::numeric_limits<double>::infinity(); }

 private:
  static constexpr double kMostLoss = 0.6;  // of an access, which may have waited for the processor
  static constexpr double kDearer = 8;

  double faults_, price_;
  double saved_ = 0;
};

}  // namespace ashlar::io
