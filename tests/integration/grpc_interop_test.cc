// The gRPC project's interoperability cases that apply to us, against its own Go server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <sstream>

#include "net/grpc.h"
#include "rt/group.h"
#include "rt/loop.h"
#include "tests/support/interop_fixture.h"

namespace quorate::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// --- grpc.testing messages ---

std::string payload(std::size_t size) {
  std::string message;
  protozero::pbf_writer(message).add_bytes(2, std::string(size, '\0'));
  return message;
}

std::string echo_status(int code, const std::string& text) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_int32(1, code);
  writer.add_string(2, text);
  return message;
}

std::string simple_request(int response_size, std::size_t size) {
  std::string message;
  protozero::pbf_writer writer(message);
  writer.add_int32(2, response_size);
  writer.add_message(3, payload(size));
  return message;
}

std::string with_status(int code, const std::string& text) {
  std::string message;
  protozero::pbf_writer(message).add_message(7, echo_status(code, text));
  return message;
}

std::string output_request(const std::vector<int>& sizes, std::size_t size, int interval_us = 0) {
  std::string message;
  protozero::pbf_writer writer(message);
  for (int wanted : sizes) {
    std::string parameters;
    protozero::pbf_writer parameter_writer(parameters);
    parameter_writer.add_int32(1, wanted);
    if (interval_us > 0) parameter_writer.add_int32(2, interval_us);
    writer.add_message(2, parameters);
  }
  writer.add_message(3, payload(size));
  return message;
}

std::string input_request(std::size_t size) {
  std::string message;
  protozero::pbf_writer(message).add_message(1, payload(size));
  return message;
}

// The size of the payload in a SimpleResponse or a StreamingOutputCallResponse.
std::size_t payload_size(const std::string& response) {
  protozero::pbf_reader reader(response);
  if (!reader.next(1)) return 0;
  auto inside = reader.get_message();
  return inside.next(2) ? inside.get_view().size() : 0;
}

int aggregated_size(const std::string& response) {
  protozero::pbf_reader reader(response);
  return reader.next(1) ? reader.get_int32() : -1;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr auto kEmpty = "/grpc.testing.TestService/EmptyCall";
constexpr auto kUnary = "/grpc.testing.TestService/UnaryCall";
constexpr auto kServerStream = "/grpc.testing.TestService/StreamingOutputCall";
constexpr auto kClientStream = "/grpc.testing.TestService/StreamingInputCall";
constexpr auto kDuplex = "/grpc.testing.TestService/FullDuplexCall";

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

class GrpcInterop : public ::testing::TestWithParam<support::InteropSecurity> {
 public:
  using Body = Task<void> (GrpcInterop::*)();
  void run(Body body) { loop_.run(with_channel(body)); }

  Task<void> with_channel(Body body) {
    HttpClientOptions options;
    options.endpoint.host = server_.endpoint().host;
    options.endpoint.port = server_.endpoint().port;
    options.endpoint.tls = GetParam() == support::InteropSecurity::kTls;
    options.window = 64 << 10;  // small, so that flow control has work to do
    if (options.endpoint.tls) {
      TlsIdentity identity;
      identity.roots = read_file(server_.ca());
      options.tls = must(TlsContext::for_client(identity, {"h2"}));
    }
    client_ = make_client(runtime_, options);
    channel_ = make_grpc_channel(*client_);
    std::exception_ptr broken;
    try {
      co_await (this->*body)();
    } catch (...) {
      broken = std::current_exception();
    }
    co_await client_->close();
    if (broken) std::rethrow_exception(broken);
  }

  rt::Deadline soon() const { return runtime_.in(30s); }
  // Every case ends with this: whatever went wrong in it, the connection goes on.
  Task<void> still_works() {
    auto answer = must(co_await channel_->unary(kEmpty, "", {}, soon()));
    EXPECT_EQ(answer.message, "");
    EXPECT_LE(client_->counters().connects, 2U);
  }
  Task<std::vector<std::size_t>> read_sizes(GrpcStream& stream) {
    std::vector<std::size_t> sizes;
    for (;;) {
      auto message = must(co_await stream.read(soon()));
      if (!message) co_return sizes;
      sizes.push_back(payload_size(*message));
    }
  }

  Task<void> empty_unary() { return still_works(); }
  Task<void> large_unary();
  Task<void> client_streaming();
  Task<void> server_streaming();
  Task<void> ping_pong();
  Task<void> empty_stream();
  Task<void> custom_metadata();
  Task<void> status_code_and_message();
  Task<void> special_status_message();
  Task<void> unimplemented_method();
  Task<void> unimplemented_service();
  Task<void> cancel_after_begin();
  Task<void> cancel_after_first_response();
  Task<void> timeout_on_sleeping_server();
  Task<void> refuses_large_messages();
  Task<void> many_streams_at_once();
  Task<void> slow_reader();

  support::InteropServer server_{GetParam()};
  rt::Loop loop_;
  rt::Runtime runtime_ = loop_.runtime();
  std::unique_ptr<Client> client_;
  std::unique_ptr<GrpcChannel> channel_;
};

TEST_P(GrpcInterop, EmptyUnary) { run(&GrpcInterop::empty_unary); }

Task<void> GrpcInterop::large_unary() {
  auto answer = must(co_await channel_->unary(kUnary, simple_request(314159, 271828), {}, soon()));
  EXPECT_EQ(payload_size(answer.message), 314159U);
  co_await still_works();
}
TEST_P(GrpcInterop, LargeUnary) { run(&GrpcInterop::large_unary); }

Task<void> GrpcInterop::client_streaming() {
  auto stream = must(co_await channel_->duplex(kClientStream, {}, soon()));
  for (std::size_t size : {27182U, 8U, 1828U, 45904U})
    must(co_await stream->write(input_request(size), soon()));
  stream->finish_writing();
  auto answer = must(co_await stream->read(soon()));
  EXPECT_EQ(aggregated_size(answer.value()), 74922);
  EXPECT_EQ(must(co_await stream->read(soon())), std::nullopt);
  co_await still_works();
}
TEST_P(GrpcInterop, ClientStreaming) { run(&GrpcInterop::client_streaming); }

Task<void> GrpcInterop::server_streaming() {
  const std::vector<int> wanted = {31415, 9, 2653, 58979};
  auto request = output_request(wanted, 0);
  auto stream = must(co_await channel_->server_stream(kServerStream, request, {}, soon()));
  auto sizes = co_await read_sizes(*stream);
  EXPECT_THAT(sizes, ::testing::ElementsAre(31415, 9, 2653, 58979));
  co_await still_works();
}
TEST_P(GrpcInterop, ServerStreaming) { run(&GrpcInterop::server_streaming); }

Task<void> GrpcInterop::ping_pong() {
  auto stream = must(co_await channel_->duplex(kDuplex, {}, soon()));
  const std::vector<std::pair<int, std::size_t>> steps = {
      {31415, 27182}, {9, 8}, {2653, 1828}, {58979, 45904}};
  for (const auto& [wanted, sent] : steps) {
    const std::vector<int> sizes = {wanted};
    must(co_await stream->write(output_request(sizes, sent), soon()));
    auto message = must(co_await stream->read(soon()));
    EXPECT_EQ(payload_size(message.value()), static_cast<std::size_t>(wanted));
  }
  stream->finish_writing();
  EXPECT_EQ(must(co_await stream->read(soon())), std::nullopt);
  co_await still_works();
}
TEST_P(GrpcInterop, PingPong) { run(&GrpcInterop::ping_pong); }

Task<void> GrpcInterop::empty_stream() {
  auto stream = must(co_await channel_->duplex(kDuplex, {}, soon()));
  stream->finish_writing();
  EXPECT_EQ(must(co_await stream->read(soon())), std::nullopt);
  co_await still_works();
}
TEST_P(GrpcInterop, EmptyStream) { run(&GrpcInterop::empty_stream); }

Task<void> GrpcInterop::custom_metadata() {
  GrpcOptions options;
  options.metadata = {{"x-grpc-test-echo-initial", "test_initial_metadata_value"},
                      {"x-grpc-test-echo-trailing-bin", "\xab\xab\xab"}};
  auto answer = must(co_await channel_->unary(kUnary, simple_request(1, 1), options, soon()));
  EXPECT_EQ(find_header(answer.headers, "x-grpc-test-echo-initial"), "test_initial_metadata_value");
  EXPECT_EQ(find_header(answer.trailers, "x-grpc-test-echo-trailing-bin"), "\xab\xab\xab");

  auto stream = must(co_await channel_->duplex(kDuplex, options, soon()));
  const std::vector<int> sizes = {10};
  must(co_await stream->write(output_request(sizes, 1), soon()));
  stream->finish_writing();
  EXPECT_THAT(co_await read_sizes(*stream), ::testing::ElementsAre(10));
  EXPECT_EQ(find_header(stream->trailers(), "x-grpc-test-echo-trailing-bin"), "\xab\xab\xab");
}
TEST_P(GrpcInterop, CustomMetadata) { run(&GrpcInterop::custom_metadata); }

Task<void> GrpcInterop::status_code_and_message() {
  auto request = with_status(2, "test status message");
  auto answer = co_await channel_->unary(kUnary, request, {}, soon());
  EXPECT_EQ(answer.error().status(), 2);
  EXPECT_EQ(answer.error().message(), "test status message");

  auto stream = must(co_await channel_->duplex(kDuplex, {}, soon()));
  must(co_await stream->write(request, soon()));
  auto message = co_await stream->read(soon());
  EXPECT_EQ(message.error().status(), 2);
  EXPECT_EQ(message.error().message(), "test status message");
  co_await still_works();
}
TEST_P(GrpcInterop, StatusCodeAndMessage) { run(&GrpcInterop::status_code_and_message); }

Task<void> GrpcInterop::special_status_message() {
  const std::string text = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";
  auto answer = co_await channel_->unary(kUnary, with_status(2, text), {}, soon());
  EXPECT_EQ(answer.error().status(), 2);
  EXPECT_EQ(answer.error().message(), text);
  co_await still_works();
}
TEST_P(GrpcInterop, SpecialStatusMessage) { run(&GrpcInterop::special_status_message); }

Task<void> GrpcInterop::unimplemented_method() {
  auto answer =
      co_await channel_->unary("/grpc.testing.TestService/UnimplementedCall", "", {}, soon());
  EXPECT_EQ(answer.error().status(), static_cast<int>(GrpcStatus::kUnimplemented));
  EXPECT_EQ(answer.error().code(), Code::kInvalid);
  co_await still_works();
}
TEST_P(GrpcInterop, UnimplementedMethod) { run(&GrpcInterop::unimplemented_method); }

Task<void> GrpcInterop::unimplemented_service() {
  const std::string method = "/grpc.testing.UnimplementedService/UnimplementedCall";
  auto answer = co_await channel_->unary(method, "", {}, soon());
  EXPECT_EQ(answer.error().status(), static_cast<int>(GrpcStatus::kUnimplemented));
  auto stream = co_await channel_->server_stream(method, "", {}, soon());
  EXPECT_EQ(stream.error().status(), static_cast<int>(GrpcStatus::kUnimplemented));
  co_await still_works();
}
TEST_P(GrpcInterop, UnimplementedService) { run(&GrpcInterop::unimplemented_service); }

Task<void> GrpcInterop::cancel_after_begin() {
  auto stream = must(co_await channel_->duplex(kClientStream, {}, soon()));
  stream.reset();
  EXPECT_EQ(client_->counters().open_streams, 0);
  co_await still_works();
}
TEST_P(GrpcInterop, CancelAfterBegin) { run(&GrpcInterop::cancel_after_begin); }

Task<void> GrpcInterop::cancel_after_first_response() {
  auto stream = must(co_await channel_->duplex(kDuplex, {}, soon()));
  const std::vector<int> sizes = {31415};
  must(co_await stream->write(output_request(sizes, 27182), soon()));
  auto message = must(co_await stream->read(soon()));
  EXPECT_EQ(payload_size(message.value()), 31415U);
  stream.reset();
  EXPECT_EQ(client_->counters().open_streams, 0);
  co_await still_works();
}
TEST_P(GrpcInterop, CancelAfterFirstResponse) { run(&GrpcInterop::cancel_after_first_response); }

Task<void> GrpcInterop::timeout_on_sleeping_server() {
  auto stream = must(co_await channel_->duplex(kDuplex, {}, soon()));
  const std::vector<int> sizes = {31415};
  must(co_await stream->write(output_request(sizes, 27182, 2'000'000), soon()));
  auto message = co_await stream->read(runtime_.in(1ms));
  EXPECT_EQ(message.error().code(), Code::kTimeout);
  // The wait is over, the stream is not.
  message = must(co_await stream->read(soon()));
  EXPECT_EQ(payload_size(message->value()), 31415U);

  // The server hears of the deadline: with none of ours to speak of, the answer is its own.
  GrpcOptions hurried;
  hurried.metadata = {{"grpc-timeout", "1n"}};
  auto call = must(co_await channel_->duplex(kDuplex, hurried, soon()));
  auto answer = co_await call->read(soon());
  EXPECT_EQ(answer.error().status(), static_cast<int>(GrpcStatus::kDeadlineExceeded));
  co_await still_works();
}
TEST_P(GrpcInterop, TimeoutOnSleepingServer) { run(&GrpcInterop::timeout_on_sleeping_server); }

Task<void> GrpcInterop::refuses_large_messages() {
  GrpcOptions small;
  small.max_message = 1000;
  auto answer = co_await channel_->unary(kUnary, simple_request(1000, 0), small, soon());
  EXPECT_EQ(answer.error().code(), Code::kInvalid);
  auto fits = must(co_await channel_->unary(kUnary, simple_request(990, 0), small, soon()));
  EXPECT_EQ(payload_size(fits.message), 990U);

  const std::vector<int> sizes = {10, 2000, 10};
  auto request = output_request(sizes, 0);
  auto stream = must(co_await channel_->server_stream(kServerStream, request, small, soon()));
  EXPECT_EQ(payload_size(must(co_await stream->read(soon())).value()), 10U);
  auto large = co_await stream->read(soon());
  EXPECT_EQ(large.error().code(), Code::kInvalid);
  large = co_await stream->read(soon());
  EXPECT_EQ(large.error().code(), Code::kInvalid);
  co_await still_works();
}
TEST_P(GrpcInterop, RefusesLargeMessages) { run(&GrpcInterop::refuses_large_messages); }

// 150 streams open at once on one connection, each answered.
Task<void> GrpcInterop::many_streams_at_once() {
  std::vector<std::unique_ptr<GrpcDuplex>> streams;
  for (int i = 0; i < 150; ++i)
    streams.push_back(must(co_await channel_->duplex(kDuplex, {}, soon())));
  for (int i = 0; i < 150; ++i) {
    const std::vector<int> sizes = {i + 1};
    must(co_await streams[static_cast<std::size_t>(i)]->write(output_request(sizes, 0), soon()));
  }
  for (int i = 149; i >= 0; --i) {
    auto message = must(co_await streams[static_cast<std::size_t>(i)]->read(soon()));
    EXPECT_EQ(payload_size(message.value()), static_cast<std::size_t>(i + 1));
  }
  EXPECT_EQ(client_->counters().connects, 1U);
}
TEST_P(GrpcInterop, ManyStreamsAtOnce) { run(&GrpcInterop::many_streams_at_once); }

// Twenty megabytes through a window of 64 KiB, while calls go on beside.
Task<void> GrpcInterop::slow_reader() {
  const std::vector<int> sizes(200, 100'000);
  auto request = output_request(sizes, 0);
  auto stream = must(co_await channel_->server_stream(kServerStream, request, {}, soon()));
  for (int i = 0; i < 200; ++i) {
    if (i % 20 == 0) co_await still_works();
    auto message = must(co_await stream->read(soon()));
    EXPECT_EQ(payload_size(message.value()), 100'000U);
  }
  EXPECT_EQ(must(co_await stream->read(soon())), std::nullopt);
}
TEST_P(GrpcInterop, SlowReader) { run(&GrpcInterop::slow_reader); }

INSTANTIATE_TEST_SUITE_P(Security, GrpcInterop,
                         ::testing::Values(support::InteropSecurity::kPlain,
                                           support::InteropSecurity::kTls),
                         [](const auto& security) {
                           return security.param == support::InteropSecurity::kTls ? "Tls"
                                                                                   : "Plain";
                         });

}  // namespace
}  // namespace quorate::net
