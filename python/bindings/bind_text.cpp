// Numbers as text, many at a time: for tables that are written as CSV.
#include <pybind11/pybind11.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"

namespace tanager::python {

void bind_text(py::module_& m) {
  m.def(
      "number_texts",
      [](const Array<double>& values) {
        const auto numbers = as_span(values);
        std::vector<std::int64_t> ends(numbers.size() + 1, 0);
        std::vector<std::uint8_t> text;
        {
          ReleaseGil nogil;
          constexpr std::size_t kLongest = 32;  // -2.2250738585072014e-308 has 24 characters
          text.resize(numbers.size() * kLongest);
          char* const begin = reinterpret_cast<char*>(text.data());
          char* at = begin;
          for (std::size_t i = 0; i < numbers.size(); ++i) {
            if (i % 8192 == 0) nogil.check_signals();
            at = std::to_chars(at, at + kLongest, numbers[i]).ptr;
            ends[i + 1] = at - begin;
          }
          text.resize(static_cast<std::size_t>(ends.back()));
        }
        return py::make_tuple(to_array(std::move(ends)), to_array(std::move(text)));
      },
      py::arg("values").noconvert());
}

}  // namespace tanager::python
