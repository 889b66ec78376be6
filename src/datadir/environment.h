#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "datadir/judge.h"

// What the guard is told, and what it tells etcd.
namespace quorate::datadir {

// NAME=value, as the kernel hands it over.
using Environment = std::vector<std::string>;

[[nodiscard]] std::string_view find_variable(const Environment& environment, std::string_view name);

// kInvalid, naming the variable, for what the operator never writes.
[[nodiscard]] Result<Told> read_told(const Environment& environment);

// Without ETCD_*: etcd takes flags from there, too, and Kubernetes puts variables of that name into
// every Pod of a namespace that has a Service called etcd.
[[nodiscard]] Environment etcd_environment(const Environment& environment);

// The command line of etcd: the given program and flags, which are the same for the whole life of a
// Pod, and behind them what follows from the verdict. kInvalid for flags that are ours to set.
[[nodiscard]] Result<std::vector<std::string>> make_command(const std::vector<std::string>& given,
                                                            const Told& told, const Start& start,
                                                            const std::string& data_dir);

}  // namespace quorate::datadir
