#include "tanager/version.hpp"

namespace tanager {

const char* version() {
  return TANAGER_VERSION;
}

}  // namespace tanager
