#include "framework/rma/window.h"

#include "framework/rma/check.h"

namespace ashlar {

RmaWindow::RmaWindow() = default;
RmaWindow::~RmaWindow() = default;

}  // namespace ashlar
