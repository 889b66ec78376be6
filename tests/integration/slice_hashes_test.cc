#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/slice_application.h"

// Real etcd members whose data differ: a page of one's database is changed on the disk, which etcd
// neither notices nor has a checksum against.
namespace quorate::slice {
namespace {

class Hashes : public SliceOnNodes {
 protected:
  void begin() override {
    auto setup = brisk_setup();
    setup.options.observer.hash_every = 2s;
    process_ = &start_operator(ledger_, std::move(setup));
  }

  // Writes other bytes over the text, wherever it stands in the file. How often that was.
  static int overwrite(const std::filesystem::path& file, const std::string& text,
                       const std::string& with) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    // In one piece: 16 MiB byte by byte would hold the operator up, which runs on this thread, too.
    std::string all(std::filesystem::file_size(file), '\0');
    stream.read(all.data(), static_cast<std::streamsize>(all.size()));
    stream.clear();
    int places = 0;
    for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) {
      stream.seekp(static_cast<std::streamoff>(at));
      stream << with;
      ++places;
    }
    return places;
  }
};

TEST_F(Hashes, ThatDifferFreezeTheClusterAndNameTheMembers) {
  declare("c");
  wait_until_ready("c");
  Application application(world(), key("c"));
  application.put("k", "as it was written");
  // All is well for as long as it is.
  world().run(world().until_seen(60s, "data was compared", [&] {
    return Look(process_->counter("quorate_hash_rounds_total") >= 3, process_->ended());
  }));
  EXPECT_TRUE(is_ready(get(kube::kEtcdClusters, "c")).holds);

  const auto database = data_folder(world(), ns_, "c-2") / "member" / "snap" / "db";
  world().run(world().until_seen(20s, "etcd has written its page", [&] {
    return Look(overwrite(database, "as it was written", "as nobody wrote!!") > 0,
                "it is not on the disk");
  }));
  world().run(world().until(kube::kEtcdClusters, key("c"), 90s, "names them", [](const auto& live) {
    return waits_for(live, "HashesDiffer", {"c-0", "c-1", "c-2"});
  }));
  const auto pods = uid_of(kube::kPods, "c-2");
  edit(R"({"spec": {"replicas": 1}})");
  wait_for_looks(*process_, 5);
  EXPECT_EQ(uid_of(kube::kPods, "c-2"), pods) << "nothing is removed";
  EXPECT_EQ(application.members().voters(), 3u);
}

}  // namespace
}  // namespace quorate::slice
