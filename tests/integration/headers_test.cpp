// Headers of the client: they travel with the build, and errors in them are reported where they are.
#include "support/cl_fixture.hpp"

#include <filesystem>
#include <fstream>

namespace farcl::end_to_end {
namespace {

namespace fs = std::filesystem;

class Headers : public ClTest {
protected:
  void SetUp() override {
    ClTest::SetUp();
    before_ = fs::current_path();
    fs::current_path(folder_.path());
  }
  void TearDown() override { fs::current_path(before_); }

  void write(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// The int that the kernel "k" of a source writes.
  int run(const std::string& source, const std::string& options = "") {
    cl::Kernel kernel(build(source, options), "k");
    cl::Buffer out = upload(std::vector<int>{-1});
    kernel.setArg(0, out);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1));
    return download<int>(out, 1)[0];
  }
  std::string log_of_failing(const std::string& source, const std::string& options = "") {
    cl::Program program(context, source);
    EXPECT_THROW(program.build(options.c_str()), cl::BuildError);
    return program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
  }

  TestFolder folder_;
  fs::path before_;
};

constexpr const char* kPrintsValue = "\nkernel void k(global int *out) { *out = VALUE; }\n";

TEST_F(Headers, OfTheWorkingDirectoryAndOfFolders) {
  write("a.h", "#define VALUE 1\n");
  write("inc/a.h", "#define VALUE 2\n");
  write("with space/a.h", "#define VALUE 3\n");
  EXPECT_EQ(run(std::string("#include \"a.h\"") + kPrintsValue), 1);
  EXPECT_EQ(run(std::string("#include <a.h>") + kPrintsValue, "-I inc"), 2);
  EXPECT_EQ(run(std::string("#include <a.h>") + kPrintsValue, "-I " + (folder_.path() / "inc").string()), 2);
  EXPECT_EQ(run(std::string("#include <a.h>") + kPrintsValue, "-I \"" + (folder_.path() / "with space").string() + "\""), 3);
}

TEST_F(Headers, NestedRelativeAndThroughMacros) {
  write("inc/outer.h", "#include \"deep/inner.h\"\n#include HEADER\n");
  write("inc/deep/inner.h", "#include \"../base.h\"\n#include \"beside.h\"\n");
  write("inc/deep/beside.h", "#define VALUE (BASE + 20 + EXTRA)\n");
  write("inc/base.h", "#ifndef BASE\n#define BASE 1\n#endif\n");
  write("inc/extra.h", "#define EXTRA 300\n");
  EXPECT_EQ(run(std::string("#include \"outer.h\"") + kPrintsValue, "-I inc -D HEADER='\"extra.h\"'"), 321);
}

TEST_F(Headers, AChangedHeaderMakesAnotherProgram) {
  const std::string source = std::string("#include \"changing.h\"") + kPrintsValue;
  write("changing.h", "#define VALUE 10\n");
  EXPECT_EQ(run(source), 10);
  write("changing.h", "#define VALUE 11\n");
  EXPECT_EQ(run(source), 11);
}

TEST_F(Headers, AMissingOneIsReportedWithItsLine) {
  const std::string log = log_of_failing("\n\n#include \"not-there.h\"\nkernel void k() {}");
  EXPECT_NE(log.find("not-there.h"), std::string::npos) << log;
  EXPECT_NE(log.find(":3:"), std::string::npos) << log;
}

TEST_F(Headers, AnErrorInOneIsReportedThere) {
  write("inc/broken.h", "int fine;\nint broken = undeclared;\n");
  const std::string log = log_of_failing("#include \"broken.h\"\nkernel void k() {}", "-I inc");
  EXPECT_NE(log.find("inc/broken.h:2:"), std::string::npos) << log;
  EXPECT_NE(log.find("undeclared"), std::string::npos) << log;
}

TEST_F(Headers, FilesOutsideTheFoldersAreNotThere) {
  const TestFolder other;
  std::ofstream(other.path() / "secret.h") << "#define VALUE 666\n";
  fs::create_symlink(other.path() / "secret.h", folder_.path() / "link.h");
  EXPECT_NE(log_of_failing("#include \"" + (other.path() / "secret.h").string() + "\"\n" + kPrintsValue).find("not found"),
            std::string::npos);
  EXPECT_NE(log_of_failing(std::string("#include \"link.h\"\n") + kPrintsValue).find("not found"), std::string::npos);
  EXPECT_NE(log_of_failing("#include \"/etc/passwd\"\nkernel void k() {}").find("not found"), std::string::npos);
  EXPECT_NE(log_of_failing("#include \"/proc/self/environ\"\nkernel void k() {}").find("not found"), std::string::npos);
}

} // namespace
} // namespace farcl::end_to_end
