// Which headers of the client travel with a build: found like the compiler finds them, and nothing outside the folders.
#include "driver/program/build_options.hpp"
#include "driver/program/header_scan.hpp"
#include "driver/program/include_lines.hpp"
#include "farcl/protocol/limits.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>

namespace farcl::driver {
namespace {

namespace fs = std::filesystem;

/// A folder of its own as the working directory.
class HeaderScan : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "farcl-headers-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    outer_ = fs::canonical(pattern);
    before_ = fs::current_path();
    fs::create_directory(outer_ / "work");
    fs::current_path(outer_ / "work");
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(outer_);
  }
  static void write(const fs::path& path, const std::string& text) {
    if (path.has_parent_path()) {
      fs::create_directories(path.parent_path());
    }
    std::ofstream(path) << text;
  }
  static std::map<std::string, std::string> scan(const std::string& source, const std::string& options = "",
                                                 const std::vector<SourceHeader>& given = {}) {
    std::map<std::string, std::string> result;
    const auto found = scan_headers(source, options, given);
    EXPECT_TRUE(found) << found.error().message;
    for (const SourceHeader& header : found.value_or(std::vector<SourceHeader>{})) {
      EXPECT_TRUE(result.emplace(header.path, header.text).second) << header.path << " twice";
    }
    return result;
  }
  using Files = std::map<std::string, std::string>;

  fs::path outer_;
  fs::path before_;
};

TEST_F(HeaderScan, FindsInTheWorkingDirectory) {
  write("a.h", "int a;");
  EXPECT_EQ(scan("#include \"a.h\"\nkernel void k() {}"), (Files{{"a.h", "int a;"}}));
  EXPECT_EQ(scan("#include <a.h>"), (Files{{"a.h", "int a;"}}));
  EXPECT_EQ(scan("#include \"missing.h\""), Files{});
}

TEST_F(HeaderScan, FindsInFoldersInTheirOrder) {
  write("one/a.h", "first");
  write("two/a.h", "second");
  write("two/b.h", "b");
  EXPECT_EQ(scan("#include \"a.h\"\n#include <b.h>", "-I one -Itwo"), (Files{{"one/a.h", "first"}, {"two/b.h", "b"}}));
  EXPECT_EQ(scan("#include \"a.h\"", "-I two -I one"), (Files{{"two/a.h", "second"}}));
}

TEST_F(HeaderScan, TakesQuotedAndAbsoluteFolders) {
  const fs::path folder = outer_ / "with space";
  write(folder / "a.h", "x");
  EXPECT_EQ(scan("#include \"a.h\"", "-cl-fast-relaxed-math -I \"" + folder.string() + "\""), (Files{{(folder / "a.h").string(), "x"}}));
  EXPECT_EQ(scan("#include \"a.h\"", "-I'" + folder.string() + "'"), (Files{{(folder / "a.h").string(), "x"}}));
}

TEST_F(HeaderScan, FollowsHeadersOfHeaders) {
  write("inc/a.h", "#include \"sub/b.h\"\n");
  write("inc/sub/b.h", "#include \"c.h\"\n#include \"../d.h\"\n#include <e.h>\n");
  write("inc/sub/c.h", "c"); // beside the including file, before inc/c.h
  write("inc/c.h", "wrong");
  write("inc/d.h", "#include \"a.h\"\n"); // a circle
  write("inc/e.h", "e");
  EXPECT_EQ(scan("#include \"a.h\"", "-I inc"), (Files{{"inc/a.h", "#include \"sub/b.h\"\n"},
                                                       {"inc/sub/b.h", "#include \"c.h\"\n#include \"../d.h\"\n#include <e.h>\n"},
                                                       {"inc/sub/c.h", "c"},
                                                       {"inc/d.h", "#include \"a.h\"\n"},
                                                       {"inc/e.h", "e"}}));
}

TEST_F(HeaderScan, AngledNamesAreNotLookedForBesideTheIncludingFile) {
  write("inc/a.h", "#include <b.h>\n");
  write("inc/b.h", "found through -I");
  write("deep/a.h", "#include <b.h>\n");
  write("deep/b.h", "beside");
  EXPECT_EQ(scan("#include \"deep/a.h\"", "-I inc").count("inc/b.h"), 1u);
  EXPECT_EQ(scan("#include \"deep/a.h\"", "-I inc").count("deep/b.h"), 0u);
}

TEST_F(HeaderScan, CountsEveryBranchAndOddSpelling) {
  for (const char* name : {"a.h", "b.h", "c.h", "d.h", "e.h", "f.h", "g.h"}) {
    write(name, name);
  }
  const std::string source = "#if 0\n  #  include \"a.h\"\n#endif\n"
                             "/* comment */ #include \"b.h\"\n"
                             "#inc\\\nlude \"c.h\"\n"
                             "%:include \"d.h\" // text\n"
                             "#include/* */<e.h>\r\n"
                             "#if __has_include(\"f.h\")\n#endif\n"
                             "// #include \"g.h\"\n/* \n#include \"g.h\"\n*/\n";
  EXPECT_EQ(scan(source), (Files{{"a.h", "a.h"}, {"b.h", "b.h"}, {"c.h", "c.h"}, {"d.h", "d.h"}, {"e.h", "e.h"}, {"f.h", "f.h"}}));
}

TEST_F(HeaderScan, ResolvesMacros) {
  write("a.h", "a");
  write("b.h", "#define LATE \"c.h\"\n");
  write("c.h", "c");
  write("d.h", "d");
  EXPECT_EQ(scan("#define NAME \"a.h\"\n#include NAME\n"), (Files{{"a.h", "a"}}));
  EXPECT_EQ(scan("#define OTHER <a.h>\n#define NAME OTHER\n#include NAME\n"), (Files{{"a.h", "a"}}));
  EXPECT_EQ(scan("#include \"b.h\"\n#include LATE\n"), (Files{{"b.h", "#define LATE \"c.h\"\n"}, {"c.h", "c"}}));
  EXPECT_EQ(scan("#include HEADER\n", "-D HEADER='\"d.h\"'"), (Files{{"d.h", "d"}}));
  EXPECT_EQ(scan("#include HEADER\n", "-DHEADER=\\\"d.h\\\""), (Files{{"d.h", "d"}}));
  EXPECT_EQ(scan("#define A B\n#define B A\n#include A\n"), Files{}); // a circle
  EXPECT_EQ(scan("#define NAME \"a.h\"\n"), Files{});                 // named, not included
}

TEST_F(HeaderScan, NeverLeavesTheFolders) {
  write(outer_ / "secret.h", "secret");
  write(outer_ / "inc/ok.h", "ok");
  fs::create_symlink(outer_ / "secret.h", "link.h");
  fs::create_directory_symlink(outer_, "linked");
  EXPECT_EQ(scan("#include \"../secret.h\""), Files{});
  EXPECT_EQ(scan("#include \"link.h\""), Files{});
  EXPECT_EQ(scan("#include \"linked/secret.h\""), Files{});
  EXPECT_EQ(scan("#include \"" + (outer_ / "secret.h").string() + "\""), Files{});
  EXPECT_EQ(scan("#include \"/etc/passwd\""), Files{});
  EXPECT_EQ(scan("#include \"../inc/../secret.h\"", "-I ../inc"), Files{});
  EXPECT_EQ(scan("#include \"../inc/ok.h\"", "-I ../inc"), (Files{{"../inc/ok.h", "ok"}}));
  EXPECT_EQ(scan("#include \"ok.h\"", "-I ../inc"), (Files{{"../inc/ok.h", "ok"}}));
  EXPECT_EQ(scan("#include \"secret.h\"", "-I .."), (Files{{"../secret.h", "secret"}})); // asked for by the program itself
}

TEST_F(HeaderScan, ReadsRegularFilesOnly) {
  ASSERT_EQ(::mkfifo("pipe.h", 0600), 0);
  fs::create_directory("folder.h");
  EXPECT_EQ(scan("#include \"pipe.h\"\n#include \"folder.h\"\n"), Files{}); // and does not hang
}

TEST_F(HeaderScan, EmbeddedHeadersComeFirstAndAreScanned) {
  write("a.h", "of the disk");
  write("b.h", "b");
  EXPECT_EQ(scan("#include \"a.h\"", "", {{"a.h", "#include \"b.h\"\n"}}), (Files{{"b.h", "b"}}));
}

TEST_F(HeaderScan, RefusesTooMuch) {
  const std::string large(static_cast<std::size_t>(protocol::kMaxSourceBytes), ' ');
  write("a.h", large);
  write("b.h", large);
  write("too-large.h", large + " ");
  EXPECT_EQ(scan("#include \"too-large.h\""), Files{});
  EXPECT_FALSE(scan_headers("#include \"a.h\"\n#include \"b.h\"\n", ""));
  std::string many;
  for (std::uint64_t i = 0; i <= protocol::kMaxHeadersPerBuild; ++i) {
    const std::string name = "h" + std::to_string(i) + ".h";
    write(name, "");
    many += "#include \"" + name + "\"\n";
  }
  EXPECT_FALSE(scan_headers(many, ""));
}

TEST(BuildOptions, SplitsWords) {
  EXPECT_EQ(split_words("  -D a=1\t-I \"x y\" 'z \"w' a\\ b \"\" c\"d\"e"),
            (std::vector<std::string>{"-D", "a=1", "-I", "x y", "z \"w", "a b", "", "cde"}));
  EXPECT_EQ(split_words(""), std::vector<std::string>{});
  EXPECT_EQ(split_words("\"not closed"), std::vector<std::string>{"not closed"});
}

TEST(BuildOptions, FindsFoldersAndNothingElse) {
  EXPECT_EQ(read_build_options("-I a -Ib -DIx=1 -D Iy -cl-std=CL1.2 -I").include_folders, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read_build_options("-D A= -DB=\" -D C=\"\"").header_macros.empty());
}

TEST(IncludeLines, SurvivesAnything) {
  for (const char* text : {"#", "#include", "#include \"", "#include <", "#include \"x", "/*", "//\\", "\"\\", "#define", "#define X",
                           "#if __has_include(", "'", "\\", "#include \"\"", "%", "%:"}) {
    EXPECT_TRUE(find_include_lines(text).headers.empty()) << text;
  }
}

} // namespace
} // namespace farcl::driver
