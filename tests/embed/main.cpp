// embed MODEL ROWS OUT: predicts with a model file, without Python. ROWS holds one row per line, its values separated
// by tabs in the order of the model's features; an empty value is missing. OUT gets the posterior probabilities of
// every row as little-endian doubles.
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tanager/tanager.hpp>
#include <vector>

namespace {

void append_row(const tanager::Model& model, std::string_view line, std::vector<tanager::Code>& rows) {
  std::size_t feature = 0;
  for (bool more = true; more; ++feature) {
    const std::size_t tab = line.find('\t');
    more = tab != std::string_view::npos;
    const std::string_view value = line.substr(0, tab);
    if (feature < model.n_features()) rows.push_back(value.empty() ? tanager::kMissing : model.encode(feature, value));
    if (more) line.remove_prefix(tab + 1);
  }
  if (feature != model.n_features())
    throw std::runtime_error("expected " + std::to_string(model.n_features()) + " values in a row, but got " +
                             std::to_string(feature));
}

std::vector<tanager::Code> read_rows(const tanager::Model& model, const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(std::string("cannot open ") + path);
  std::vector<tanager::Code> rows;
  for (std::string line; std::getline(in, line);) append_row(model, line, rows);
  return rows;
}

/// The batch, checked against every row on its own: the bits must agree.
std::vector<double> predict(const tanager::Model& model, std::span<const tanager::Code> rows) {
  const std::size_t n_rows = rows.size() / model.n_features();
  const std::size_t n_classes = model.n_classes();
  std::vector<double> batch(n_rows * n_classes);
  model.predict_proba(rows, batch, 2);
  std::vector<double> single(n_classes);
  for (std::size_t i = 0; i < n_rows; ++i) {
    model.predictor().predict(rows.subspan(i * model.n_features(), model.n_features()), tanager::Output::kPosterior,
                              single);
    if (std::memcmp(single.data(), batch.data() + i * n_classes, n_classes * sizeof(double)) != 0)
      throw std::runtime_error("row " + std::to_string(i) + " differs between the batch and on its own");
  }
  return batch;
}

void write_doubles(std::span<const double> values, const char* path) {
  std::string bytes;
  bytes.reserve(values.size() * sizeof(double));
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>((bits >> shift) & 0xFF));
  }
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw std::runtime_error(std::string("cannot write ") + path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: embed MODEL ROWS OUT\n";
    return 2;
  }
  try {
    const tanager::Model model = tanager::load_model(argv[1]);
    const std::vector<tanager::Code> rows = read_rows(model, argv[2]);
    write_doubles(predict(model, rows), argv[3]);
    for (std::uint32_t c = 0; c < model.n_classes(); ++c) std::cout << model.class_name(c) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "embed: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
