// Bit sets of features over a block of rows in class order: what counting pairs works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "counts/class_order.hpp"
#include "simd/cpu.hpp"
#include "tanager/dataset.hpp"

namespace tanager::internal {

/// Words aligned to cache lines, not initialized.
class WordBuffer {
 public:
  explicit WordBuffer(std::size_t words) : words_(allocate(words)) {}
  ~WordBuffer() { ::operator delete(words_, kAlignment); }
  WordBuffer(const WordBuffer&) = delete;
  WordBuffer& operator=(const WordBuffer&) = delete;
  std::uint64_t* data() const { return words_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  static std::uint64_t* allocate(std::size_t words) {
    return static_cast<std::uint64_t*>(::operator new(words * sizeof(std::uint64_t), kAlignment));
  }
  std::uint64_t* words_;
};

/// Memory one thread needs to build bit sets.
struct BuildScratch {
  std::vector<std::uint8_t> narrowed;
  std::vector<std::uint8_t> ordered;
  std::vector<std::uint64_t> matched;
};

/// How many bit rows a feature needs: one per value; if no cell is missing, the last value's counts follow from the
/// others.
std::size_t bit_rows_of(const Column& column);

/// Whether the bits of a feature are put into class order by pext (few classes, few values) or its codes are, by
/// gathering. Never by pext without bit rows: then the number of classes would not be bounded.
bool builds_by_pext(std::size_t bit_rows, std::uint32_t n_classes, Isa isa, bool fast_pext);

/// Writes the feature's bit rows of the block, in class order, to rows stride words apart from `out` on. Every word
/// below order.n_words() is written.
void build_bit_rows(const Column& column, const ClassOrder& order, bool by_pext, std::uint64_t* out, std::size_t stride,
                    BuildScratch& scratch, Isa isa);

}  // namespace tanager::internal
