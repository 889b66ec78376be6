#include "kube/exec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/h1_codec.h"
#include "net/scripted_peer.h"
#include "rt/loop.h"

namespace quorate::kube {
namespace {

using namespace std::chrono_literals;
using net::testing::must;
using net::testing::soon;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = net::WebSocketMessage::Kind;

const std::string kExitCode3 =
    R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code",)"
    R"("reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}})";
const std::string kSuccess = R"({"metadata":{},"status":"Success"})";

TEST(ExecProtocol, NamesTheChannelInTheFirstByte) {
  EXPECT_EQ(render_exec_message(ExecChannel::kInput, "ab"), std::string("\0ab", 3));
  EXPECT_EQ(render_exec_message(ExecChannel::kClose, std::string(1, '\0')),
            std::string("\xff\0", 2));
  EXPECT_EQ(must(parse_exec_message("\x02oops")), (ExecMessage{ExecChannel::kErrors, "oops"}));
  EXPECT_EQ(must(parse_exec_message("\x01")), (ExecMessage{ExecChannel::kOutput, ""}));
  EXPECT_FALSE(parse_exec_message(""));
}

TEST(ExecProtocol, ReadsHowLargeATerminalIs) {
  EXPECT_EQ(must(parse_exec_size(R"({"Width":99,"Height":33})")), (ExecSize{99, 33}));
  for (const char* text : {"", "{}", R"({"Width":99})", R"({"Width":-1,"Height":33})",
                           R"({"Width":99,"Height":65536})", R"({"Width":"99","Height":33})"})
    EXPECT_FALSE(parse_exec_size(text)) << text;
}

TEST(ExecProtocol, ReadsHowACommandEnded) {
  EXPECT_EQ(must(parse_exec_status(kSuccess)), 0);
  EXPECT_EQ(must(parse_exec_status(kExitCode3)), 3);
  const auto never = parse_exec_status(
      R"({"status":"Failure","reason":"InternalError","message":"exec: no such file"})");
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().text(), "exec: no such file");
  EXPECT_FALSE(parse_exec_status("{"));
  EXPECT_FALSE(parse_exec_status(
      R"({"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"x"}]}})"));
  EXPECT_FALSE(parse_exec_status(
      R"({"status":"Failure","details":{"causes":[{"reason":"ExitCode","message":"4294967296"}]}})"))
      << "which is not 0";
}

TEST(ExecProtocol, AsksForEachWordByItself) {
  const auto request = make_exec_request({{"n", "p"}, "etcd", {"etcdctl", "get", "a b&c"}, true});
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path,
            "/api/v1/namespaces/n/pods/p/exec?container=etcd&command=etcdctl&command=get"
            "&command=a%20b%26c&stdin=true&stdout=true&stderr=true");
  EXPECT_THAT(make_exec_request({{"n", "p"}, "etcd", {"x"}, false}).path,
              ::testing::Not(HasSubstr("stdin")));
}

// The API server's side of one exec, word by word.
class Player {
 public:
  explicit Player(rt::Runtime runtime) : server_(runtime) {}
  std::uint16_t port() const { return server_.port(); }

  Task<void> accept() {
    peer_.emplace(co_await server_.accept());
    auto text = co_await peer_->receive_until("\r\n\r\n");
    head_ = must(net::take_request_head(text, 1 << 16)).value();
  }
  Task<void> upgrade() {
    const std::vector<std::string_view> known{"v5.channel.k8s.io"};
    const auto upgrade = must(net::accept_upgrade(head_.headers, known));
    std::string head = "HTTP/1.1 101 Switching Protocols\r\n";
    for (const auto& [name, value] : upgrade.headers) head += name + ": " + value + "\r\n";
    co_await peer_->send(head + "\r\n");
  }
  Task<void> say(ExecChannel channel, std::string data) {
    co_await peer_->send(
        net::render_frame(Kind::kBinary, render_exec_message(channel, data), std::nullopt));
  }
  Task<void> say(Kind kind, std::string data) {
    co_await peer_->send(net::render_frame(kind, data, std::nullopt));
  }
  Task<net::WebSocketMessage> hear() {
    for (;;) {
      if (auto message = must(decoder_.take(heard_))) co_return std::move(*message);
      auto more = co_await peer_->receive();
      if (more.empty()) throw std::runtime_error("the client has gone");
      heard_ += more;
    }
  }
  Task<void> send_raw(std::string bytes) { co_await peer_->send(std::move(bytes)); }
  void close() { peer_->close(); }
  const net::H1RequestHead& head() const { return head_; }

 private:
  net::testing::ScriptedServer server_;
  std::optional<net::testing::ScriptedPeer> peer_;
  net::H1RequestHead head_;
  net::WebSocketDecoder decoder_{net::WebSocketSide::kServer, 1 << 20};
  std::string heard_;
};

class ExecTest : public ::testing::Test {
 protected:
  // Runs the client beside the server's script.
  void play(Task<void> script, Task<void> client) {
    loop_.run(net::testing::beside_script(runtime_, std::move(script), std::move(client)));
  }
  std::unique_ptr<HttpApi> api() {
    ClusterConfig config;
    config.endpoint.host = "127.0.0.1";
    config.endpoint.port = player_.port();
    config.endpoint.tls = false;
    config.token.data = Secret("sesame");
    return must(HttpApi::make(runtime_, config, {}));
  }
  Task<Result<std::unique_ptr<Exec>>> open(HttpApi& api) {
    ExecRequest request{{"n", "p"}, "etcd", {"cat"}, true};
    co_return co_await Exec::open(api, std::move(request), soon(runtime_));
  }

  Task<void> echo_script() {
    co_await player_.accept();
    co_await player_.upgrade();
    co_await player_.say(ExecChannel::kOutput, "");
    co_await player_.say(Kind::kPing, "are you there");
    const auto pong = co_await player_.hear();
    EXPECT_EQ(pong, (net::WebSocketMessage{Kind::kPong, "are you there"}));
    const auto input = co_await player_.hear();
    EXPECT_EQ(input.data, std::string("\0hello", 6));
    const auto end = co_await player_.hear();
    EXPECT_EQ(end.data, std::string("\xff\0", 2));
    co_await player_.say(ExecChannel::kOutput, "hello");
    co_await player_.say(ExecChannel::kErrors, "warned");
    co_await player_.say(ExecChannel::kStatus, kExitCode3);
    co_await player_.say(Kind::kClose, net::render_close({1000, ""}));
  }
  Task<void> echo_client() {
    auto api = this->api();
    auto exec = must(co_await open(*api));
    rt::TaskGroup beside(runtime_);
    beside.spawn("input", give_input(*exec));
    std::vector<std::string> said;
    while (auto message = must(co_await exec->read(soon(runtime_))))
      said.push_back((message->channel == ExecChannel::kErrors ? "2:" : "1:") + message->data);
    EXPECT_THAT(said, ElementsAre("1:hello", "2:warned"));
    EXPECT_EQ(must(exec->exit_code()), 3);
    co_await beside.join();
    co_await api->close();
  }
  Task<void> give_input(Exec& exec) {
    must(co_await exec.write_input("hello", soon(runtime_)));
    must(co_await exec.end_input(soon(runtime_)));
  }

  Task<void> refuse_script(std::string answer) {
    co_await player_.accept();
    co_await player_.send_raw(std::move(answer));
    player_.close();
  }
  Task<void> refused_client(Error& error) {
    auto api = this->api();
    auto exec = co_await open(*api);
    EXPECT_FALSE(exec);
    if (!exec) error = exec.error();
    co_await api->close();
  }

  Task<void> lost_script() {
    co_await player_.accept();
    co_await player_.upgrade();
    co_await player_.say(ExecChannel::kOutput, "half");
    player_.close();
  }
  Task<void> lost_client() {
    auto api = this->api();
    auto exec = must(co_await open(*api));
    EXPECT_EQ(must(co_await exec->read(soon(runtime_)))->data, "half");
    auto lost = co_await exec->read(soon(runtime_));
    EXPECT_FALSE(lost);
    if (!lost) EXPECT_EQ(lost.error().code(), Code::kUnknownOutcome);
    EXPECT_FALSE(exec->exit_code());
    co_await api->close();
  }

  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  Player player_{runtime_};
};

TEST_F(ExecTest, PassesInputOutputErrorsAndTheExitCode) {
  play(echo_script(), echo_client());
  EXPECT_EQ(net::find_header(player_.head().headers, "authorization"), "Bearer sesame");
  EXPECT_EQ(net::find_header(player_.head().headers, "sec-websocket-protocol"),
            "v5.channel.k8s.io");
  EXPECT_THAT(player_.head().target, HasSubstr("/pods/p/exec?container=etcd&command=cat&stdin"));
}

TEST_F(ExecTest, TellsTheServersOwnWordsWhereItRefuses) {
  Error error(Code::kInternal, "");
  const std::string body =
      R"({"kind":"Status","status":"Failure","message":"pods \"p\" is forbidden","code":403})";
  play(
      refuse_script("HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: " +
                    std::to_string(body.size()) + "\r\n\r\n" + body),
      refused_client(error));
  EXPECT_EQ(error.code(), Code::kForbidden);
  EXPECT_EQ(error.text(), "exec in pod n/p: pods \"p\" is forbidden");
}

TEST_F(ExecTest, DoesNotTakeAnotherProtocol) {
  Error error(Code::kInternal, "");
  play(refuse_script("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: "
                     "upgrade\r\nsec-websocket-accept: wrong\r\n\r\n"),
       refused_client(error));
  EXPECT_EQ(error.code(), Code::kInvalid);
}

TEST_F(ExecTest, DoesNotClaimToKnowHowALostCommandEnded) { play(lost_script(), lost_client()); }

}  // namespace
}  // namespace quorate::kube
