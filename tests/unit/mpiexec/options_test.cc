#include "mpiexec/options.h"

#include <gmock/gmock.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "mpiexec/text.h"
#include "tests/unit/scratch_folder.h"

namespace ashlar::mpiexec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

struct Parsed {
  bool ok;
  Options options;
  std::string error;
};

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "mpiexec");
  Parsed p;
  const Status status = parse_options(static_cast<int>(words.size()), words.data(), &p.options);
  p.ok = status.ok();
  p.error = in_words(status);
  return p;
}

TEST(Options, OneProgramWithItsArguments) {
  const Parsed p = parse({"-n", "4", "./a.out", "-n", "7", "--help"});
  ASSERT_TRUE(p.ok) << p.error;
  ASSERT_EQ(p.options.segments.size(), 1u);
  EXPECT_EQ(p.options.segments[0].ranks, 4u);
  EXPECT_THAT(p.options.segments[0].argv, ElementsAre("./a.out", "-n", "7", "--help"));
  EXPECT_FALSE(p.options.help);
}

TEST(Options, OnlyACheckNeedsNoProgram) {
  const Parsed p = parse({"--check", "--host", "b,c"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_TRUE(p.options.check);
  ASSERT_EQ(p.options.segments.size(), 1u);
  EXPECT_TRUE(p.options.segments[0].argv.empty());
  EXPECT_EQ(p.options.segments[0].hosts.size(), 2u);
  EXPECT_FALSE(parse({"--host", "b,c"}).ok);
  EXPECT_FALSE(parse({"--check", "--host", "b", "a", ":", "--host", "c"}).ok) << "a second program has a name";
  EXPECT_FALSE(parse({"--check", ""}).ok);
}

TEST(Options, OneRankUnlessSaid) {
  const Parsed p = parse({"a"});
  ASSERT_TRUE(p.ok);
  EXPECT_EQ(p.options.ranks(), 1u);
}

TEST(Options, EverySpellingOfTheNumberOfRanks) {
  for (const char* name : {"-n", "-np", "--n", "--np", "-c"}) EXPECT_EQ(parse({name, "3", "a"}).options.ranks(), 3u);
  EXPECT_EQ(parse({"--np=3", "a"}).options.ranks(), 3u);
}

TEST(Options, ColonsSeparatePrograms) {
  const Parsed p =
      parse({"-n", "2", "-wdir", "/tmp", "-env", "A", "1", "a", ":", "-n", "3", "-x", "B=2=3", "b", "c", ":", "d"});
  ASSERT_TRUE(p.ok) << p.error;
  ASSERT_EQ(p.options.segments.size(), 3u);
  EXPECT_EQ(p.options.ranks(), 6u);
  EXPECT_EQ(p.options.segments[0].wdir, "/tmp");
  EXPECT_THAT(p.options.segments[0].env, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(p.options.segments[1].env, ElementsAre(Pair("B", "2=3")));
  EXPECT_THAT(p.options.segments[1].argv, ElementsAre("b", "c"));
  EXPECT_EQ(p.options.segments[2].wdir, "");
}

TEST(Options, ProcessSets) {
  const Parsed p =
      parse({"--pset", "all=0-5", "-n", "2", "--pset", "boss", "a", ":", "--pset", "crew", "-n", "4", "b"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_EQ(p.options.process_sets(), "all=0-5;boss=0-1;ashlar://APP/0=0-1;crew=2-5;ashlar://APP/1=2-5");
  EXPECT_THAT(p.options.params, ElementsAre(Pair("runtime.process_sets", p.options.process_sets())));
  EXPECT_THAT(parse({"-n", "3", "a"}).options.params, ElementsAre());
  std::vector<unsigned> ranks;
  EXPECT_TRUE(expand_ranks("0-2,9,4-8:2", &ranks));
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2, 9, 4, 6, 8));
  for (const char* list : {"", "1-", "-1", "a", "1,", "3-2", "0-4:0", "1 2"})
    EXPECT_FALSE(expand_ranks(list, &ranks)) << list;
  EXPECT_THAT(parse({"--pset", "x=3", "-n", "3", "a"}).error, HasSubstr("no rank 3"));
  EXPECT_THAT(parse({"--pset", "x=1;y", "a"}).error, HasSubstr("--pset"));
  EXPECT_FALSE(parse({"--pset", "=1", "a"}).ok);
}

class ConfigFile : public testing::Test {
 protected:
  Parsed parse_file(const std::string& text) {
    return parse({"-configfile", scratch_.write("programs", text).c_str()});
  }
  const ScratchFolder scratch_;
};

// The standard's example, with comments and lines that go on.
TEST_F(ConfigFile, OneProgramOnEachLine) {
  utsname machine;
  ASSERT_EQ(uname(&machine), 0);
  const Parsed p =
      parse_file(std::string("# two programs\n-n 5 -arch ") + machine.machine +
                 " ocean\n\n  # and the other\n-n 10 \\\n  -x 'A=two words' \\\n  atmos \"an argument\" \n");
  ASSERT_TRUE(p.ok) << p.error;
  ASSERT_EQ(p.options.segments.size(), 2u);
  EXPECT_EQ(p.options.segments[0].ranks, 5u);
  EXPECT_THAT(p.options.segments[0].argv, ElementsAre("ocean"));
  EXPECT_EQ(p.options.segments[1].ranks, 10u);
  EXPECT_THAT(p.options.segments[1].env, ElementsAre(Pair("A", "two words")));
  EXPECT_THAT(p.options.segments[1].argv, ElementsAre("atmos", "an argument"));
}

TEST_F(ConfigFile, Mistakes) {
  EXPECT_THAT(parse_file("# nothing\n").error, HasSubstr("names no program"));
  EXPECT_THAT(parse_file("a\n-n 2 'b\n").error, HasSubstr(":2: a quote does not end"));
  EXPECT_THAT(parse({"-configfile", "/there/is/no/such/file"}).error, HasSubstr("No such file"));
  EXPECT_THAT(parse({"-configfile", "/dev/null", "a"}).error, HasSubstr("stands alone"));
  EXPECT_THAT(parse({"-n", "1", "-configfile", "/dev/null"}).error, HasSubstr("stands alone"));
}

TEST_F(ConfigFile, OptionsOfOneProgram) {
  const std::string other = scratch_.write("other", "-wdir /tmp\n");
  const std::string path =
      scratch_.write("options", "# for the ocean\n-n 3\n-x 'A=two words' \\\n-file " + other + "\n");
  const Parsed p = parse({"-n", "9", "-file", path.c_str(), "ocean", "-file", "x", ":", "atmos"});
  ASSERT_TRUE(p.ok) << p.error;
  ASSERT_EQ(p.options.segments.size(), 2u);
  EXPECT_EQ(p.options.segments[0].ranks, 3u);
  EXPECT_EQ(p.options.segments[0].wdir, "/tmp");
  EXPECT_THAT(p.options.segments[0].env, ElementsAre(Pair("A", "two words")));
  EXPECT_THAT(p.options.segments[0].argv, ElementsAre("ocean", "-file", "x")) << "what follows a program is its own";
  EXPECT_EQ(p.options.segments[1].ranks, 1u);
  scratch_.write("options", "-file " + path);
  EXPECT_THAT(parse({"-file", path.c_str(), "a"}).error, HasSubstr("more than"));
  EXPECT_THAT(parse({"-file", "/there/is/no/such/file", "a"}).error, HasSubstr("-file /there/is/no/such/file cannot"));
  scratch_.write("options", "");
  EXPECT_TRUE(parse({"-file", path.c_str(), "a"}).ok);
}

TEST(Options, SoftNumbersOfRanks) {
  const auto ranks = [](std::vector<const char*> words) {
    words.push_back("a");
    const Parsed p = parse(words);
    return p.ok ? static_cast<int>(p.options.segments.at(0).ranks) : -1;
  };
  EXPECT_EQ(ranks({"-n", "10", "-soft", "1,2,8"}), 8);
  EXPECT_EQ(ranks({"-soft", "1,2,8", "-n", "7"}), 2);
  EXPECT_EQ(ranks({"-soft", "4:16:5"}), 14) << "without -n the largest";
  EXPECT_EQ(ranks({"-n", "13", "-soft", "4:16:5,-3:2"}), 9);
  EXPECT_EQ(ranks({"-n", "12", "-soft", "0:100"}), 12);
  EXPECT_EQ(ranks({"-n", "12", "-soft", "20:5:-3"}), 11);
  EXPECT_EQ(ranks({"-n", "14", "-soft", "20:5:-3"}), 14);
  EXPECT_EQ(ranks({"-n", "30", "-soft", "20:5:-3"}), 20);
  EXPECT_EQ(ranks({"-n", "4", "-soft", "20:5:-3"}), -1) << "none is small enough";
  EXPECT_EQ(ranks({"-n", "4", "-soft", "-8:0"}), -1) << "nor large enough";
  for (const char* list : {"", "a", "1,", "1:", "1:2:3:4", "1:5:0", "5:1", "1:5:-1", "1 2", "99999999999999999999"})
    EXPECT_THAT(parse({"-soft", list, "a"}).error, HasSubstr("-soft")) << list;
  // Of one program only, and colons inside the word do not part programs.
  const Parsed p = parse({"-n", "9", "-soft", "2:8:2", "a", ":", "-n", "9", "b"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_EQ(p.options.segments.at(0).ranks, 8u);
  EXPECT_EQ(p.options.segments.at(1).ranks, 9u);
  // MPI_INFO_ENV has the words, and not what was made of them.
  EXPECT_EQ(p.options.segments.at(0).asked, 9u);
  EXPECT_EQ(p.options.segments.at(0).soft, "2:8:2");
  EXPECT_EQ(p.options.segments.at(1).soft, "");
  EXPECT_EQ(parse({"-soft", "4:16:5", "a"}).options.segments.at(0).asked, 14u);
}

TEST(Options, ToolsAndTraces) {
  const Parsed p =
      parse({"--tool", "calls", "--summary", "--trace=a.html", "--trace=/tmp/b.json,c.prom", "--summary", "a"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_THAT(p.options.params, testing::UnorderedElementsAre(Pair("tool", "calls,summary,trace"),
                                                              Pair("tool.trace.file", "a.html,/tmp/b.json,c.prom")));
  EXPECT_THAT(parse({"--trace", "a"}).options.params, ElementsAre(Pair("tool", "trace")));
  EXPECT_THAT(parse({"--set", "tool=calls", "--summary", "a"}).options.params,
              ElementsAre(Pair("tool", "calls,summary")));
  EXPECT_THAT(parse({"--trace=a.txt", "a"}).error, HasSubstr("FILE.html, .json, .prom or .otf2"));
  EXPECT_THAT(parse({"--trace=/nowhere/a.html", "a"}).error, HasSubstr("nothing can be written there"));
}

TEST(Options, KindsOfMachine) {
  utsname machine;
  ASSERT_EQ(uname(&machine), 0);
  EXPECT_TRUE(parse({"-arch", machine.machine, "a"}).ok);
  EXPECT_THAT(parse({"-arch", "abacus", "a"}).error, HasSubstr("abacus"));
}

TEST(Options, KindsOfMemory) {
  EXPECT_THAT(parse({"-memory-alloc-kinds", "system,mpi", "a"}).options.params,
              ElementsAre(Pair("runtime.memory_alloc_kinds", "system,mpi")));
}

TEST(Options, AColonInsideAWordSeparatesNothing) { EXPECT_EQ(parse({"a", "x:y"}).options.segments.size(), 1u); }

TEST(Options, TwoDashesEndTheOptions) {
  const Parsed p = parse({"-n", "2", "--", "-odd-name", "x"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_THAT(p.options.segments[0].argv, ElementsAre("-odd-name", "x"));
}

TEST(Options, ParametersKeepTheirOrder) {
  const Parsed p = parse({"--set", "a.b=1", "--set=a.c=x=y", "--param", "d=", "a"});
  ASSERT_TRUE(p.ok) << p.error;
  EXPECT_THAT(p.options.params, ElementsAre(Pair("a.b", "1"), Pair("a.c", "x=y"), Pair("d", "")));
}

TEST(Options, ExplainTakesItsTopicOnlyWithAnEqualsSign) {
  EXPECT_TRUE(parse({"--explain", "a"}).options.explain);
  EXPECT_EQ(parse({"--explain", "a"}).options.explain_topic, "");
  EXPECT_EQ(parse({"--explain=transport", "a"}).options.explain_topic, "transport");
}

TEST(Options, UnknownOptionsAreGuessed) {
  EXPECT_THAT(parse({"--bindto", "core", "a"}).error, HasSubstr("Did you mean --bind-to?"));
  EXPECT_THAT(parse({"--tag-ouput", "a"}).error, HasSubstr("Did you mean --tag-output?"));
  EXPECT_THAT(parse({"--mca", "a", "b", "c"}).error, HasSubstr("--set KEY=VALUE"));
  EXPECT_THAT(parse({"--xyzzyplugh", "a"}).error, HasSubstr("--help"));
}

TEST(Options, WordsAreGuessedToo) {
  EXPECT_THAT(parse({"--bind-to", "cores", "a"}).error, HasSubstr("Did you mean core?"));
  EXPECT_EQ(parse({"--map-by", "socket", "a"}).options.map, MapBy::kSocket);
}

TEST(Options, WrongNumbersAreRefusedWithTheValue) {
  for (const char* bad : {"0", "-3", "two", "", "99999999999", "4x"}) {
    const Parsed p = parse({"-n", bad, "a"});
    EXPECT_FALSE(p.ok) << bad;
    EXPECT_THAT(p.error, HasSubstr(std::string("\"") + bad + "\""));
  }
  EXPECT_FALSE(parse({"--timeout", "0", "a"}).ok);
  EXPECT_FALSE(parse({"--timeout", "nan", "a"}).ok);
  EXPECT_DOUBLE_EQ(parse({"--timeout", "0.5", "a"}).options.timeout_s, 0.5);
}

TEST(Options, MissingPartsAreNamed) {
  EXPECT_THAT(parse({}).error, HasSubstr("no program"));
  EXPECT_THAT(parse({"-n"}).error, HasSubstr("-n needs N"));
  EXPECT_THAT(parse({"-env", "A"}).error, HasSubstr("-env needs NAME VALUE"));
  EXPECT_THAT(parse({"a", ":"}).error, HasSubstr("last colon"));
  EXPECT_THAT(parse({":", "a"}).error, HasSubstr("no program"));
}

TEST(Options, StdinMustBeARankOfTheJob) {
  EXPECT_EQ(parse({"--stdin", "none", "a"}).options.stdin_rank, -1);
  EXPECT_EQ(parse({"--stdin", "1", "-n", "2", "a"}).options.stdin_rank, 1);
  EXPECT_THAT(parse({"--stdin", "2", "-n", "2", "a"}).error, HasSubstr("from 0 to 1"));
}

TEST(Options, OnlyThisHostIsTaken) {
  char self[256] = {};
  ASSERT_EQ(gethostname(self, sizeof self - 1), 0);
  EXPECT_TRUE(parse({"-host", "localhost:8", "a"}).ok);
  EXPECT_TRUE(parse({"--host", "127.0.0.1", "a"}).ok);
  EXPECT_TRUE(parse({"-hosts", self, "a"}).ok);
  const Parsed two = parse({"--host", "localhost,faraway:3", "a"});
  ASSERT_EQ(two.options.segments[0].hosts.size(), 2u);
  EXPECT_EQ(two.options.segments[0].hosts[1].name, "faraway");
  EXPECT_EQ(two.options.segments[0].hosts[1].slots, 3u);
  EXPECT_THAT(parse({"--host", "-oProxyCommand=x", "a"}).error, HasSubstr("no name of a host"));
}

TEST(Options, HostFilesOfThisHostAreTaken) {
  const ScratchFolder scratch;
  const std::string path = scratch / "hosts";
  const auto with = [&](const std::string& lines) {
    return parse({"-machinefile", scratch.write("hosts", lines).c_str(), "-n", "2", "a"});
  };
  EXPECT_TRUE(with("# this one\nlocalhost slots=4\n\n127.0.0.1:2\n").ok);
  EXPECT_TRUE(with("localhost slots=4 max_slots=8 # mine\n").ok);
  EXPECT_THAT(with("localhost slots=abc\n").error, HasSubstr("\"slots=abc\" behind host localhost"));
  EXPECT_THAT(with("localhost:many\n").error, HasSubstr("\"localhost:many\": a number of ranks"));
  EXPECT_THAT(with("localhost 4 5\n").error, HasSubstr("\"4\" behind host localhost"));
  EXPECT_THAT(with(std::string("# one\nlocal\0host\n", 17)).error, HasSubstr(path + ":2: there is a zero byte"));
  EXPECT_THAT(with("localhost\nfar;away:2\n").error,
              HasSubstr("\"far;away:2\" is no name of a host. The host file is " + path));
  EXPECT_THAT(with("# none\n").error, HasSubstr("names no host"));
  const Parsed users = with("node1 slots=2 user=me\nnode2:3\nnode2\n");
  ASSERT_EQ(users.options.hosts.size(), 2u) << users.error;
  EXPECT_EQ(users.options.hosts[0].name, "me@node1");
  EXPECT_EQ(users.options.hosts[1].slots, 4u);
  EXPECT_THAT(parse({"--hostfile", "/there/is/no/such/file", "a"}).error,
              HasSubstr("--hostfile /there/is/no/such/file cannot be read"));
}

TEST(Options, OthersHabitsAreTolerated) {
  EXPECT_TRUE(parse({"--oversubscribe", "--allow-run-as-root", "-n", "2", "a"}).ok);
  const Parsed p = parse({"-q", "-quiet", "--prefix", "/opt/x", "-genvlist=A,B", "--bynode", "-n", "2", "a", "-q"});
  EXPECT_TRUE(p.ok) << p.error;
  EXPECT_THAT(p.options.segments[0].argv, ElementsAre("a", "-q"));
  EXPECT_THAT(parse({"--prefix"}).error, HasSubstr("--prefix needs DIR"));
}

TEST(Options, OthersNamesAreTranslated) {
  EXPECT_EQ(parse({"-ppn", "3", "a"}).options.ranks(), 3u);
  EXPECT_EQ(parse({"-N", "3", "-n", "2", "a", ":", "b"}).options.ranks(), 3u) << "-n counts, and the next has its own";
  EXPECT_THAT(parse({"-N", "none", "a"}).error, HasSubstr("\"none\""));
  EXPECT_TRUE(parse({"-prepend-rank", "a"}).options.tag_output);
  EXPECT_TRUE(parse({"--output", "tag", "a"}).options.tag_output);
  EXPECT_TRUE(parse({"-timestamp-output", "a"}).options.timestamp_output);
  const Parsed both = parse({"--output", "timestamp,tag", "a"});
  EXPECT_TRUE(both.options.tag_output && both.options.timestamp_output && both.options.output.empty());
  const Parsed folder = parse({"--output", "tag,logs", "a"});
  EXPECT_FALSE(folder.options.tag_output);
  EXPECT_EQ(folder.options.output, "tag,logs");
  EXPECT_TRUE(parse({"-v", "a"}).options.explain);
  EXPECT_EQ(parse({"--output-filename", "logs", "a"}).options.output, "logs");
  EXPECT_EQ(parse({"--output", "dir=logs", "a"}).options.output, "logs");
  EXPECT_EQ(parse({"--bind-to", "package", "--map-by", "node", "a"}).options.bind, BindTo::kSocket);
  EXPECT_THAT(parse({"--nooversubscribe", "a"}).options.params, ElementsAre(Pair("mpiexec.oversubscribe", "error")));
  for (const char* keep_going : {"--keep-going", "-disable-auto-cleanup", "--enable-recovery", "--continuous"})
    EXPECT_THAT(parse({keep_going, "a"}).options.params, ElementsAre(Pair("mpiexec.on_failure", "continue")));
}

TEST(Options, OthersOptionsNameOurs) {
  const std::pair<std::vector<const char*>, const char*> known[] = {
      {{"--mca", "btl", "self", "a"}, "--set KEY=VALUE"},
      {{"-s", "all", "a"}, "--stdin"},
      {{"-genvnone", "a"}, "env -i"},
      {{"--rank-by", "core", "a"}, "--rank-by knows"},
      {{"--display=map", "a"}, "--report-bindings"},
      {{"-launcher", "blaunch", "a"}, "-launcher knows ssh, rsh, srun"},
      {{"-iface", "eth0", "a"}, "docs/networks.md"},
      {{"-outfile-pattern", "x", "a"}, "--output"},
      {{"--merge-stderr-to-stdout", "a"}, "2>&1"},
      {{"--output", "merge", "a"}, "--tag-output"},
      {{"--app", "file"}, "-configfile"},
      {{"-gdb", "a"}, "xterm -e gdb"},
  };
  for (const auto& [words, ours] : known) {
    const Parsed p = parse(words);
    EXPECT_FALSE(p.ok) << words[0];
    EXPECT_THAT(p.error, HasSubstr(ours)) << words[0];
  }
}

TEST(Options, NamesAreShownEscaped) {
  EXPECT_THAT(parse({"--x\x1b[2J\n", "a"}).error, HasSubstr("--x\\x1b[2J\\n"));
  EXPECT_THAT(parse({"-n", "1\r", "a"}).error, HasSubstr("\"1\\r\""));
}

TEST(Options, AnEmptyProgramAndAnEqualsSignAreSlips) {
  EXPECT_THAT(parse({"-n", "2", ""}).error, HasSubstr("name of the program is empty"));
  EXPECT_THAT(parse({"-genv", "A=B", "prog"}).error, HasSubstr("-x \"A=B\""));
  EXPECT_THAT(parse({"-env", "A=B", "prog"}).error, HasSubstr("two words"));
}

TEST(Options, HelpNamesEveryShownOption) {
  const std::string help = help_text();
  for (const char* name : {"-n N", "--set KEY=VALUE", "--explain", "--output", "--bind-to", "--timeout"})
    EXPECT_THAT(help, HasSubstr(name));
  for (std::size_t at = 0, end; at < help.size(); at = end + 1) {
    end = help.find('\n', at);
    EXPECT_LE(end - at, 120u) << help.substr(at, end - at);
  }
}

}  // namespace
}  // namespace ashlar::mpiexec
