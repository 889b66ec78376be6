#pragma once

#include <string_view>

namespace quorate::apiserver {

// The types of the built-in kinds as text, made from k8s.io/api 0.34.4 (names, order, tags and Go
// types) and from the OpenAPI document of kube-apiserver 1.34.4 (lists and maps). A type is
//
//   Name [atomic]: field type tag...; field type tag...
//
// (`events.Name` is the Name of another group than the one that has the plain name),
// where a type is a Go type: `*T` a pointer, `[]T`, `{}T` a map by text (`@Name` if the map type
// has a name), `$Name` a named text, and a `!` after it says that the field is written even when
// it is empty (no omitempty). Tags are list=map:keys, list=set, list=atomic, map=atomic, patch=...,
// key=..., #N or #M.N (the number in protobuf, inside of the
// embedded message M, where it is not the one after the field before), omitzero, default=... (of
// keys of lists alone), and optional and required where the `!` does not say which of them a field
// is.
extern const std::string_view kPodTypes;
extern const std::string_view kOtherTypes;

}  // namespace quorate::apiserver
