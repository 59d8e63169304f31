// farcl-kc: the kernel compile service, and a compiler for people and tests.

#include "command_line.hpp"

int main(int argc, char** argv) { return farcl::kernel_compiler::run_command_line(argc, argv); }
