// server MODEL THREADS < REQUESTS: how a service uses a model. It is loaded once; any number of threads predict with it
// at the same time, without a lock and without a copy. A request is a line of values separated by tabs, in the order
// of the model's features; an empty value is missing. The answers, class and probability, come in the order of the
// requests.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <tanager/errors.hpp>
#include <tanager/model.hpp>
#include <thread>
#include <vector>

namespace {

/// What one thread needs to answer requests: the model they all share, and its own buffers, so predicting allocates no
/// memory after the first request.
class Worker {
 public:
  explicit Worker(const tanager::Model& model)
      : model_(model), row_(model.n_features()), posterior_(model.n_classes()) {}

  std::string answer(std::string_view request) {
    try {
      encode(request);
    } catch (const tanager::InvalidInput& error) {
      return std::string("error: ") + error.what();  // one bad request must not end the service
    }
    const std::uint32_t best = model_.predict(row_, posterior_, scratch_);
    return model_.class_name(best) + ' ' + std::to_string(posterior_[best]);
  }

 private:
  void encode(std::string_view request) {
    for (std::size_t f = 0; f < row_.size(); ++f) {
      const std::size_t tab = request.find('\t');
      if ((tab == std::string_view::npos) != (f + 1 == row_.size()))
        throw tanager::InvalidInput("expected " + std::to_string(row_.size()) + " values");
      const std::string_view value = request.substr(0, tab);
      row_[f] = value.empty() ? tanager::kMissing : model_.encode(f, value);
      request.remove_prefix(std::min(request.size(), value.size() + 1));
    }
  }

  const tanager::Model& model_;
  std::vector<tanager::Code> row_;
  std::vector<double> posterior_;
  tanager::Predictor::Scratch scratch_;  // for rows with missing values and for averaged models
};

std::vector<std::string> answer_all(const tanager::Model& model, std::span<const std::string> requests, int n_threads) {
  std::vector<std::string> answers(requests.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Worker worker(model);
    for (std::size_t i = next++; i < requests.size(); i = next++) answers[i] = worker.answer(requests[i]);
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < n_threads; ++t) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace

int main(int argc, char** argv) {
  int n_threads = 0;
  if (argc == 3) std::from_chars(argv[2], argv[2] + std::string_view(argv[2]).size(), n_threads);
  if (n_threads < 1) {
    std::cerr << "usage: server MODEL THREADS < REQUESTS\n";
    return 2;
  }
  try {
    const tanager::Model model = tanager::load_model(argv[1]);
    std::vector<std::string> requests;
    for (std::string line; std::getline(std::cin, line);) requests.push_back(line);
    for (const std::string& answer : answer_all(model, requests, n_threads)) std::cout << answer << '\n';
  } catch (const std::exception& error) {
    std::cerr << "server: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
