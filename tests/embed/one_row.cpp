// one_row MODEL NAME=VALUE...: the shortest useful program. Prints the probability of every class for one row, and the
// most probable class. Features that are not given are missing, and are summed out.
//
//     $ one_row model.tng sky=sun wind=2.5
//     play 0.78048780487804881
//     stay 0.21951219512195128
//     predicted: play
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>
#include <string_view>
#include <tanager/errors.hpp>
#include <tanager/model.hpp>
#include <vector>

namespace {

/// One code for every feature of the model, in its order. feature_index throws InvalidInput for a name it does not
/// know.
std::vector<tanager::Code> encode_row(const tanager::Model& model, const std::vector<std::string_view>& pairs) {
  std::vector<tanager::Code> row(model.n_features(), tanager::kMissing);
  for (const std::string_view pair : pairs) {
    const std::size_t equal = pair.find('=');
    if (equal == std::string_view::npos) throw tanager::InvalidInput("NAME=VALUE was expected: " + std::string(pair));
    const std::size_t feature = model.feature_index(pair.substr(0, equal));
    row[feature] = model.encode(feature, pair.substr(equal + 1));
    // Whether a value that was never seen in learning may pass as missing is for the program to decide.
    if (row[feature] == tanager::kMissing) std::cerr << "one_row: the model does not know " << pair << '\n';
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: one_row MODEL NAME=VALUE...\n";
    return 2;
  }
  try {
    const tanager::Model model = tanager::load_model(argv[1]);
    const std::vector<tanager::Code> row = encode_row(model, {argv + 2, argv + argc});
    std::vector<double> posterior(model.n_classes());
    const std::uint32_t best = model.predict(row, posterior);
    std::cout << std::setprecision(std::numeric_limits<double>::max_digits10);
    for (std::uint32_t c = 0; c < model.n_classes(); ++c)
      std::cout << model.class_name(c) << ' ' << posterior[c] << '\n';
    std::cout << "predicted: " << model.class_name(best) << '\n';
  } catch (const tanager::ModelFileError& error) {  // the file is absent, broken, or of a later version
    std::cerr << "one_row: " << error.what() << '\n';
    return EXIT_FAILURE;
  } catch (const tanager::InvalidInput& error) {  // what was asked does not fit the model
    std::cerr << "one_row: " << error.what() << '\n';
    return 2;
  }
  return EXIT_SUCCESS;
}
