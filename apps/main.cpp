#include "apps/program.h"

int main(int argc, char** argv) { return heed::run_program(argc, argv); }
