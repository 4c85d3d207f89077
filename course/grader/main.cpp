// The start of a learner's program; the rest is in the shared library.
extern "C" int heed_course_main(int argc, char** argv);

int main(int argc, char** argv) { return heed_course_main(argc, argv); }
