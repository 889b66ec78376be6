#include "api/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "api/options.h"
#include "base/strings.h"

namespace quorate::api {
namespace {

constexpr std::array kReleases{
    MinorRelease{.minor = 4, .floor = 0, .why = "", .supported = false, .tried_patch = 23},
    MinorRelease{.minor = 5,
                 .floor = 3,
                 .why = "3.5.0 to 3.5.2 can corrupt data",
                 .supported = true,
                 .tried_patch = 35},
    MinorRelease{.minor = 6, .floor = 0, .why = "", .supported = true, .tried_patch = 16},
    MinorRelease{.minor = 7, .floor = 0, .why = "", .supported = true, .tried_patch = 3},
};

EtcdVersion tried(const MinorRelease& release) { return {3, release.minor, release.tried_patch}; }

// The release whose number is nearest: the lowest for what is older than all, and so on.
const MinorRelease& nearest_release(const EtcdVersion& version) {
  if (version.major < 3) return kReleases.front();
  if (version.major > 3) return kReleases.back();
  return version.minor < kReleases.front().minor ? kReleases.front() : kReleases.back();
}

std::optional<int> parse_number(std::string_view text) {
  auto number = parse_integer(text);
  if (!number || *number < 0 || *number > 99999 || std::to_string(*number) != text)
    return std::nullopt;
  return static_cast<int>(*number);
}

std::optional<EtcdVersion> parse_numbers(std::string_view text) {
  auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  auto major = parse_number(parts[0]);
  auto minor = parse_number(parts[1]);
  auto patch = parse_number(parts[2]);
  if (!major || !minor || !patch) return std::nullopt;
  return EtcdVersion{*major, *minor, *patch};
}

// What the writer of a wrong version probably wanted.
std::string advice(std::string_view text) {
  auto bare = trim(text);
  if (bare.starts_with('v') || bare.starts_with('V')) bare.remove_prefix(1);
  if (auto meant = parse_numbers(bare)) return fmt::format("write {}", meant->text());
  auto release = cut(bare, "-");
  if (release && parse_numbers(release->before))
    return fmt::format("pre-releases are not run; write {}", release->before);
  for (const auto& known : kReleases)
    if (bare == fmt::format("3.{}", known.minor))
      return fmt::format("write three numbers, as in {}", tried(known).text());
  return fmt::format("write three numbers, as in {}", kDefaultEtcdVersion);
}

}  // namespace

std::string EtcdVersion::text() const { return fmt::format("{}.{}.{}", major, minor, patch); }

Result<EtcdVersion> parse_etcd_version(std::string_view text) {
  if (auto version = parse_numbers(text)) return *version;
  return fail(Code::kInvalid, fmt::format("\"{}\" is not a version: {}", text, advice(text)));
}

EtcdVersion default_etcd_version() { return *parse_etcd_version(kDefaultEtcdVersion); }

std::span<const MinorRelease> etcd_releases() { return kReleases; }

const MinorRelease* find_release(const EtcdVersion& version) {
  if (version.major != 3) return nullptr;
  auto found = std::find_if(kReleases.begin(), kReleases.end(),
                            [&](const auto& release) { return release.minor == version.minor; });
  return found == kReleases.end() ? nullptr : &*found;
}

Result<void> check_supported(const EtcdVersion& version) {
  const auto* release = find_release(version);
  if (!release)
    return fail(Code::kInvalid,
                fmt::format("{} is not run: 3.{} to 3.{} are; the nearest is {}", version.text(),
                            kReleases.front().minor, kReleases.back().minor,
                            tried(nearest_release(version)).text()));
  if (version.patch < release->floor)
    return fail(Code::kInvalid,
                fmt::format("{} is not run: {}; write {} or later", version.text(), release->why,
                            EtcdVersion{3, release->minor, release->floor}.text()));
  return {};
}

std::string_view readiness_path(const EtcdVersion& version) {
  return version >= EtcdVersion{3, 5, 11} ? "/readyz" : "/health";
}

std::string_view skip_client_san_flag(const EtcdVersion& version) {
  return version >= EtcdVersion{3, 6, 0} ? "--peer-skip-client-san-verification"
                                         : "--experimental-peer-skip-client-san-verification";
}

std::vector<std::string> make_etcd_arguments(const EtcdFlags& flags) {
  auto listen = [](bool tls, int port) {
    return fmt::format("{}://0.0.0.0:{}", tls ? "https" : "http", port);
  };
  std::vector<std::string> arguments{
      fmt::format("--listen-peer-urls={}", listen(flags.peer_tls, kPeerPort)),
      fmt::format("--listen-client-urls={}", listen(flags.client_tls, kClientPort)),
      fmt::format("--listen-metrics-urls={}", listen(false, kMetricsPort)),
      fmt::format("--advertise-client-urls={}", flags.advertise_client_url),
      "--strict-reconfig-check=true",
  };
  if (flags.peer_tls) {
    arguments.push_back(fmt::format("--peer-cert-file={}/{}", kPeerTlsFolder, kSecretCertificate));
    arguments.push_back(fmt::format("--peer-key-file={}/{}", kPeerTlsFolder, kSecretKey));
    arguments.push_back(fmt::format("--peer-trusted-ca-file={}/{}", kPeerTlsFolder, kSecretCa));
    arguments.push_back("--peer-client-cert-auth=true");
    arguments.push_back(fmt::format("{}=true", skip_client_san_flag(flags.version)));
  }
  if (flags.client_tls) {
    arguments.push_back(fmt::format("--cert-file={}/{}", kServerTlsFolder, kSecretCertificate));
    arguments.push_back(fmt::format("--key-file={}/{}", kServerTlsFolder, kSecretKey));
  }
  // etcd asks for certificates as soon as it has an authority for them.
  if (flags.client_tls && flags.client_certificates) {
    arguments.push_back(fmt::format("--trusted-ca-file={}/{}", kServerTlsFolder, kSecretCa));
    arguments.push_back("--client-cert-auth=true");
  }
  // 3.4 logs in another format unless told; later ones know no other.
  if (flags.version < EtcdVersion{3, 5, 0}) arguments.push_back("--logger=zap");
  for (auto& option : option_arguments(flags.options, flags.version))
    arguments.push_back(std::move(option));
  return arguments;
}

}  // namespace quorate::api
