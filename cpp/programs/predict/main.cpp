// tanager-predict: predict a CSV table with a model file, without Python.
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "files.hpp"
#include "job.hpp"
#include "options.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"
#include "tanager/version.hpp"

namespace {

constexpr int kOk = 0;
constexpr int kFailure = 1;
constexpr int kBadInput = 2;

int print_error(std::string_view message, int code) {
  std::cerr << "tanager-predict: " << message << '\n';
  return code;
}

void show(const std::string& text) {
  tanager::predict::Output out("-");
  out.write(text);
}

void run(const tanager::predict::Options& options) {
  using tanager::predict::Task;
  if (options.task == Task::kHelp) return show(tanager::predict::help_text());
  if (options.task == Task::kVersion) return show("tanager-predict " TANAGER_VERSION "\n");
  std::error_code unknown;  // one of them does not exist
  if (options.output != "-" && std::filesystem::equivalent(options.model, options.output, unknown))
    throw tanager::InvalidInput("the output '" + options.output + "' would overwrite the model; choose another name");
  const tanager::Model model = tanager::load_model(options.model);
  tanager::predict::Input input(options.input);
  tanager::predict::Output output(options.output);
  tanager::predict::predict_table(model, options, input, output);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    tanager::predict::handle_signals();
    run(tanager::predict::parse_options({argv + 1, argv + argc}));
    return kOk;
  } catch (const tanager::predict::UsageError& error) {
    return print_error(std::string(error.what()) + "; see tanager-predict --help", kBadInput);
  } catch (const tanager::predict::FileFailure& error) {
    return print_error(error.what(), kFailure);
  } catch (const tanager::Error& error) {
    return print_error(error.what(), kBadInput);
  } catch (const std::bad_alloc&) {
    return print_error("out of memory", kFailure);
  } catch (const std::exception& error) {
    return print_error(error.what(), kFailure);
  }
}
