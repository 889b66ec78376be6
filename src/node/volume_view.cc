#include "node/volume_view.h"

#include "json/quantity.h"

namespace quorate::node {
namespace {

using json::Reader;
using std::string_view;

class VolumeReader {
 public:
  explicit VolumeReader(std::vector<std::string>& unsupported) : unsupported_(unsupported) {}

  void volume(Reader& in, Volume& out);

 private:
  void reject(std::string what) { unsupported_.push_back(std::move(what)); }

  bool volume_source(string_view kind, Reader& in, Volume& out);
  FileSource object_source(Reader& in, FileSource::Kind kind, int* default_mode);
  FileSource fields_source(Reader& in, int* default_mode);
  FileSource token_source(Reader& in);
  FileVolume projected(Reader& in);

  std::vector<std::string>& unsupported_;
};

FileSource VolumeReader::object_source(Reader& in, FileSource::Kind kind, int* default_mode) {
  FileSource out;
  out.kind = kind;
  in.fields([&](string_view key, Reader& value) {
    if (key == "name" || key == "secretName")
      out.object = value.text();
    else if (key == "optional")
      out.optional = value.flag();
    else if (key == "defaultMode" && default_mode)
      *default_mode = read_small_number(value);
    else if (key == "items")
      value.items([&](Reader& item) {
        auto& file = out.items.emplace_back();
        item.fields([&](string_view field, Reader& part) {
          if (field == "key")
            file.key = part.text();
          else if (field == "path")
            file.path = part.text();
          else if (field == "mode")
            file.mode = read_small_number(part);
        });
      });
  });
  return out;
}

FileSource VolumeReader::fields_source(Reader& in, int* default_mode) {
  FileSource out;
  out.kind = FileSource::Kind::kFields;
  in.fields([&](string_view key, Reader& value) {
    if (key == "defaultMode" && default_mode) *default_mode = read_small_number(value);
    if (key != "items") return;
    value.items([&](Reader& item) {
      auto& file = out.items.emplace_back();
      item.fields([&](string_view field, Reader& part) {
        if (field == "path")
          file.path = part.text();
        else if (field == "mode")
          file.mode = read_small_number(part);
        else if (field == "resourceFieldRef")
          reject("downwardAPI.resourceFieldRef");
        else if (field == "fieldRef")
          part.fields([&](string_view name, Reader& path) {
            if (name == "fieldPath") file.key = path.text();
          });
      });
    });
  });
  return out;
}

FileSource VolumeReader::token_source(Reader& in) {
  FileSource out;
  out.kind = FileSource::Kind::kToken;
  auto& file = out.items.emplace_back();
  in.fields([&](string_view key, Reader& value) {
    if (key == "audience")
      out.object = value.text();
    else if (key == "path")
      file.path = value.text();
    else if (key == "expirationSeconds")
      out.expiration = std::chrono::seconds(value.integer());
  });
  return out;
}

FileVolume VolumeReader::projected(Reader& in) {
  FileVolume out;
  in.fields([&](string_view key, Reader& value) {
    if (key == "defaultMode") out.default_mode = read_small_number(value);
    if (key != "sources") return;
    value.items([&](Reader& source) {
      source.fields([&](string_view kind, Reader& part) {
        if (kind == "secret")
          out.sources.push_back(object_source(part, FileSource::Kind::kSecret, nullptr));
        else if (kind == "configMap")
          out.sources.push_back(object_source(part, FileSource::Kind::kConfigMap, nullptr));
        else if (kind == "downwardAPI")
          out.sources.push_back(fields_source(part, nullptr));
        else if (kind == "serviceAccountToken")
          out.sources.push_back(token_source(part));
        else
          reject("projected." + std::string(kind));
      });
    });
  });
  return out;
}

bool VolumeReader::volume_source(string_view kind, Reader& in, Volume& out) {
  FileVolume files;
  if (kind == "emptyDir") {
    EmptyDir dir;
    in.fields([&](string_view key, Reader& value) {
      if (key == "medium")
        dir.memory = value.text() == "Memory";
      else if (key == "sizeLimit") {
        auto size = json::Quantity::parse(value.text_or_number());
        if (size)
          dir.size_limit = size->bytes();
        else
          value.fail(size.error().code(), size.error().text());
      }
    });
    out.source = dir;
  } else if (kind == "persistentVolumeClaim") {
    ClaimVolume claim;
    in.fields([&](string_view key, Reader& value) {
      if (key == "claimName")
        claim.claim = value.text();
      else if (key == "readOnly")
        claim.read_only = value.flag();
    });
    out.source = claim;
  } else if (kind == "hostPath") {
    HostPath path;
    in.fields([&](string_view key, Reader& value) {
      if (key == "path") path.path = value.text();
    });
    out.source = path;
  } else if (kind == "secret") {
    files.sources.push_back(object_source(in, FileSource::Kind::kSecret, &files.default_mode));
    out.source = std::move(files);
  } else if (kind == "configMap") {
    files.sources.push_back(object_source(in, FileSource::Kind::kConfigMap, &files.default_mode));
    out.source = std::move(files);
  } else if (kind == "downwardAPI") {
    files.sources.push_back(fields_source(in, &files.default_mode));
    out.source = std::move(files);
  } else if (kind == "projected") {
    out.source = projected(in);
  } else {
    return false;
  }
  return true;
}

void VolumeReader::volume(Reader& in, Volume& out) {
  in.fields([&](string_view key, Reader& value) {
    if (key == "name")
      out.name = value.text();
    else if (!volume_source(key, value, out))
      reject("volumes." + std::string(key));
  });
}

}  // namespace

void read_volume(Reader& in, Volume& out, std::vector<std::string>& unsupported) {
  VolumeReader(unsupported).volume(in, out);
}

int read_small_number(Reader& in) {
  auto value = in.integer();
  if (value < INT32_MIN || value > INT32_MAX) in.fail(Code::kInvalid, "number out of range");
  return static_cast<int>(value);
}

}  // namespace quorate::node
