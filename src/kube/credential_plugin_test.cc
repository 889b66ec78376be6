#include "kube/credential_plugin.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "json/timestamp.h"
#include "kube/http_api.h"
#include "kube/kubeconfig.h"
#include "rt/loop.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

const std::string kApi = "client.authentication.k8s.io/v1";

std::string answer(const std::string& status) {
  return fmt::format(R"({{"apiVersion": "{}", "kind": "ExecCredential", "status": {}}})", kApi,
                     status);
}

TEST(ExecCredential, HoldsATokenOrACertificate) {
  const auto token = parse_exec_credential(
      answer(R"({"token": "t", "expirationTimestamp": "2026-05-01T12:00:00Z"})"), kApi);
  ASSERT_TRUE(token) << token.error().text();
  EXPECT_EQ(token->token.reveal(), "t");
  EXPECT_EQ(json::render_time(*token->expires), "2026-05-01T12:00:00Z");
  const auto pair = parse_exec_credential(
      answer(R"({"clientCertificateData": "c", "clientKeyData": "k"})"), kApi);
  ASSERT_TRUE(pair) << pair.error().text();
  EXPECT_EQ(pair->certificate, "c");
  EXPECT_EQ(pair->key.reveal(), "k");
  EXPECT_FALSE(pair->expires);
}

TEST(ExecCredential, IsRefusedByTheNameOfWhatIsWrongAndNeverShown) {
  const auto failure = [](const std::string& text) {
    const auto parsed = parse_exec_credential(text, kApi);
    return parsed ? "no failure" : parsed.error().text();
  };
  EXPECT_EQ(failure("s3cret"), "it printed no JSON object");
  EXPECT_EQ(failure(R"({"kind": "Token"})"), "kind: must be ExecCredential");
  EXPECT_EQ(failure(R"({"kind": "ExecCredential", "apiVersion": "v0"})"),
            "apiVersion: must be client.authentication.k8s.io/v1");
  EXPECT_THAT(failure(answer("{}")), HasSubstr("neither a token nor"));
  EXPECT_THAT(failure(answer(R"({"clientKeyData": "s3cret"})")), HasSubstr("together or not"));
  const auto late = failure(answer(R"({"token": "s3cret", "expirationTimestamp": "s3cret"})"));
  EXPECT_EQ(late, "status.expirationTimestamp: is not a time");
}

// A server that knows one token, and remembers which ones it was shown.
class Server : public net::Client {
 public:
  struct World {
    std::string accepted;
    std::vector<std::string> shown;
  };
  Server(rt::Runtime runtime, World& world) : runtime_(runtime), world_(world) {}
  Task<Result<net::Response>> call(net::Request request, rt::Deadline, std::size_t) override {
    const auto header = net::find_header(request.headers, "authorization").value_or("");
    world_.shown.emplace_back(header);
    co_return net::Response{header == "Bearer " + world_.accepted ? 200 : 401, {}, ""};
  }
  Task<Result<std::unique_ptr<net::ResponseStream>>> open(net::Request, rt::Deadline) override {
    co_return fail(Code::kInvalid, "not here");
  }
  Task<Result<std::unique_ptr<net::DuplexStream>>> open_duplex(net::Request,
                                                               rt::Deadline) override {
    co_return fail(Code::kInvalid, "not here");
  }
  const rt::Runtime& runtime() const override { return runtime_; }
  Task<void> close() override { co_return; }
  void replace_tls(std::shared_ptr<net::TlsContext>) override {}
  Counters counters() const override { return {}; }

 private:
  rt::Runtime runtime_;
  World& world_;
};

// A plugin that counts how often it was asked and hands out what stands in a file.
class Plugin : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "quorate-plugin-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
    write("login",
          "#!/bin/sh\n"
          "echo asked >>\"$FOLDER/asked\"\n"
          "printf %s \"$KUBERNETES_EXEC_INFO\" >\"$FOLDER/info\"\n"
          "printf %s \"$1\" >\"$FOLDER/argument\"\n"
          "cat \"$FOLDER/answer\"\n"
          "exit $(cat \"$FOLDER/code\")\n");
    fs::permissions(folder_ / "login", fs::perms::owner_all);
    write("code", "0");
    write("config",
          fmt::format(
              "current-context: c\n"
              "contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n"
              "clusters: [{{name: k, cluster: {{server: 'http://h:1'}}}}]\n"
              "users:\n- name: u\n  user:\n    exec: {{apiVersion: {}, command: ./login, "
              "args: [now], env: [{{name: FOLDER, value: '{}'}}], provideClusterInfo: true}}\n",
              kApi, folder_.string()));
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string read(const std::string& name) { return read_local_file(folder_ / name).value_or(""); }
  long asked() {
    const auto text = read("asked");
    return std::count(text.begin(), text.end(), '\n');
  }
  std::unique_ptr<HttpApi> make() {
    HttpApiOptions options;
    options.make_client = [this](rt::Runtime runtime, net::HttpClientOptions) {
      return std::make_unique<Server>(runtime, server_);
    };
    auto config = load_kubeconfig(folder_ / "config");
    EXPECT_TRUE(config) << config.error().text();
    auto api = HttpApi::make(loop_.runtime(), std::move(*config), std::move(options));
    EXPECT_TRUE(api) << api.error().text();
    return std::move(*api);
  }
  Result<net::Response> call(HttpApi& api) {
    return loop_.run(api.call({"GET", "/version", {}, ""}, loop_.runtime().in(20s)));
  }

  fs::path folder_;
  rt::Loop loop_;
  Server::World server_;
};

TEST_F(Plugin, IsAskedOnceWhileWhatItGaveIsGood) {
  write("answer", answer(R"({"token": "one", "expirationTimestamp": "2999-01-01T00:00:00Z"})"));
  server_.accepted = "one";
  const auto api = make();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(call(*api)->status, 200);
  EXPECT_EQ(asked(), 1);
  EXPECT_EQ(read("argument"), "now");
  EXPECT_THAT(read("info"), HasSubstr(R"("server":"http://h:1")"));
}

TEST_F(Plugin, IsAskedAgainWhenThatHasExpired) {
  write("answer", answer(R"({"token": "one", "expirationTimestamp": "2000-01-01T00:00:00Z"})"));
  server_.accepted = "one";
  const auto api = make();
  call(*api).value();
  call(*api).value();
  EXPECT_EQ(asked(), 2);
}

TEST_F(Plugin, IsAskedAgainWhenTheServerDoesNotTakeIt) {
  write("answer", answer(R"({"token": "one"})"));
  server_.accepted = "one";
  const auto api = make();
  EXPECT_EQ(call(*api)->status, 200);
  write("answer", answer(R"({"token": "two"})"));
  server_.accepted = "two";
  EXPECT_EQ(call(*api)->status, 200);
  EXPECT_EQ(asked(), 2);
  server_.accepted = "three";  // the plugin does not have it: the server's word stands
  EXPECT_EQ(call(*api)->status, 401);
  EXPECT_EQ(asked(), 3);
}

TEST_F(Plugin, ThatFailsIsNamedWithTheFileThatNamesIt) {
  write("answer", "s3cret");
  write("code", "3");
  const auto api = make();
  const auto place = (folder_ / "config").string() + ":7: users[0].user.exec: ";
  EXPECT_EQ(call(*api).error().text(),
            place + (folder_ / "login").string() + ": exited with code 3");
  write("code", "0");
  EXPECT_THAT(call(*api).error().text(), HasSubstr("it printed no JSON object"));
  EXPECT_THAT(call(*api).error().text(), Not(HasSubstr("s3cret")));
  fs::remove(folder_ / "login");
  EXPECT_THAT(call(*api).error().text(), HasSubstr("no such file"));
  EXPECT_TRUE(server_.shown.empty()) << "nothing is sent without credentials";
}

}  // namespace
}  // namespace quorate::kube
