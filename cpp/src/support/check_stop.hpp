// Ends a long call if whoever made it wants so: see StopCheck.
#pragma once

#include "tanager/stopped.hpp"

namespace tanager {

/// The check of this thread, or null. Threads that are lent have none: the one that called looks for all.
inline thread_local constinit StopCheck* this_threads_check = nullptr;

/// To be called at least every tenth of a second by whatever takes longer; costs some nanoseconds. ThreadTeam does so
/// before every item. Throws what the check throws.
inline void check_stop() {
  if (this_threads_check != nullptr) this_threads_check->look();
}

}  // namespace tanager
