// cupola: says how the installation stands, and runs existing programs with Cupola's libraries.

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cupola/doctor.h"
#include "cupola/info.h"
#include "cupola/program_run.h"

int main(int count, char** words) {
  const std::filesystem::path root = cupola::cupolac::program_path().parent_path().parent_path();
  CLI::App app("Cupola runs CUDA programs on the machine you have.", "cupola");
  app.require_subcommand(1);
  int status = 0;

  app.add_subcommand("info", "Versions, folders, devices with their attributes, settings")->callback([&] {
    status = cupola::tool::info(root);
  });
  app.add_subcommand("doctor", "Check the installation; exit status 1 when there is a problem")->callback([&] {
    status = cupola::tool::doctor(root);
  });
  app.add_subcommand("version", "Cupola's version")->callback([] { std::puts("cupola " CUPOLA_VERSION); });

  std::vector<std::string> command;
  CLI::App* run = app.add_subcommand("run", "Run an existing program with Cupola's libraries");
  run->prefix_command();  // everything from the program's name on is the program's
  run->callback([&] {
    command = run->remaining();
    if (command.empty()) throw CLI::RequiredError("PROGRAM");
    const cupola::Error error = cupola::tool::run_program(command, root / "lib");
    std::fprintf(stderr, "cupola: %s\n", error.message.c_str());
    status = 1;
  });

  CLI11_PARSE(app, count, words);
  return status;
}
