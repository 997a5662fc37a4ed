#pragma once
#include "framework/plugin/component.h"

namespace ashlar::shm {

class Inbound;
class Outbound;

/// Makes the variables known, before there is any ring.
void introduce(const ashlar_host& host);
/// Shows a ring that this process sends into, or one that others send into, as performance variables, and takes it away
/// again: what was counted stays. Nothing with a kernel that is too old for blocks.
void show(const ashlar_host& host, const Outbound& ring);
void hide(const ashlar_host& host, const Outbound& ring);
void show(const ashlar_host& host, const Inbound& ring);
void hide(const ashlar_host& host, const Inbound& ring);

}  // namespace ashlar::shm
