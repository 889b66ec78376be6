#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/launch_contract.h"

// Every name that Quorate gives or reads: each is said here and nowhere else. The names and exit
// codes that the launch guard needs as well stand in base/launch_contract.h.
namespace quorate::api {

// ---- Our kinds ----

inline constexpr std::string_view kGroup = "quorate.io";
inline constexpr std::string_view kVersion = "v1alpha1";
inline constexpr std::string_view kApiVersion = "quorate.io/v1alpha1";

struct KindNames {
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  std::string_view short_name;
};
inline constexpr KindNames kClusterKind{"EtcdCluster", "etcdclusters", "etcdcluster", "etcd"};
inline constexpr KindNames kMemberKind{"EtcdMember", "etcdmembers", "etcdmember", "etcdm"};

// Who wrote a field, for server-side apply.
inline constexpr std::string_view kFieldManager = "quorate";

// ---- Labels ----

inline constexpr std::string_view kLabelName = "app.kubernetes.io/name";             // etcd
inline constexpr std::string_view kLabelInstance = "app.kubernetes.io/instance";     // the cluster
inline constexpr std::string_view kLabelManagedBy = "app.kubernetes.io/managed-by";  // quorate
inline constexpr std::string_view kLabelComponent = "app.kubernetes.io/component";
inline constexpr std::string_view kAppName = "etcd";
inline constexpr std::string_view kManagedBy = "quorate";
inline constexpr std::string_view kComponentMember = "member";  // records, claims, Pods
inline constexpr std::string_view kComponentShared = "shared";  // Services, Secrets, the budget

// On everything of a cluster; caches and people select by it.
inline constexpr std::string_view kLabelCluster = "quorate.io/cluster";
// On everything of a cluster, too. Selectors of Services and budgets use it, so that Pods of an
// earlier cluster of the same name are never reached through the Services of the new one.
inline constexpr std::string_view kLabelClusterUid = "quorate.io/cluster-uid";
inline constexpr std::string_view kLabelOrdinal = "quorate.io/ordinal";  // records, claims, Pods
// By record: this member has a vote. The disruption budget selects it.
inline constexpr std::string_view kLabelVoter = "quorate.io/voter";
// Verified now as a started voter of the formed cluster. The client Service selects it; new Pods
// are without it.
inline constexpr std::string_view kLabelServing = "quorate.io/serving";
inline constexpr std::string_view kTrue = "true";
// Kubernetes' own, on EndpointSlices: whose they are.
inline constexpr std::string_view kLabelServiceName = "kubernetes.io/service-name";
// Of nodes: their own names.
inline constexpr std::string_view kLabelHostname = "kubernetes.io/hostname";

// ---- Annotations ----

// Identity, written when the object is made (claims, Pods); see identity.h.
inline constexpr std::string_view kAnnotationIncarnation = "quorate.io/incarnation";
inline constexpr std::string_view kAnnotationFormationNumber = "quorate.io/formation-number";
inline constexpr std::string_view kAnnotationFormationFirst = "quorate.io/formation-first-ordinal";
inline constexpr std::string_view kAnnotationFormationSize = "quorate.io/formation-size";
// Identity, once it is known (claims, Pods).
inline constexpr std::string_view kAnnotationClusterId = "quorate.io/cluster-id";
inline constexpr std::string_view kAnnotationMemberId = "quorate.io/member-id";
inline constexpr std::string_view kAnnotationStarted = "quorate.io/started";
inline constexpr std::string_view kAnnotationRemoved = "quorate.io/removed";
inline constexpr std::string_view kAnnotationRaftFloor = "quorate.io/raft-floor";
inline constexpr std::string_view kAnnotationRaftFloorNoted = "quorate.io/raft-floor-noted";
inline constexpr std::string_view kAnnotationRaftFloorVoters = "quorate.io/raft-floor-voters";
// What the launch guard is told beside that (Pods).
inline constexpr std::string_view kAnnotationFormation = "quorate.io/formation";  // open, closed
inline constexpr std::string_view kAnnotationInitialCluster = "quorate.io/initial-cluster";
// The fingerprint of the description that the object was rendered from.
inline constexpr std::string_view kAnnotationRendered = "quorate.io/rendered";
// On Services and the budget: the fingerprint of the fields that we own, to notice edits by others.
inline constexpr std::string_view kAnnotationOwned = "quorate.io/owned";
// The labels and annotations that were added at people's wish; see metadata.h.
inline constexpr std::string_view kAnnotationAdded = "quorate.io/added";
// On a Pod whose image was changed in place: how often its container had restarted by then.
inline constexpr std::string_view kAnnotationReimagedAt = "quorate.io/reimaged-at-restart";
// On a Pod that was made for a volume that had never been in a Pod.
inline constexpr std::string_view kAnnotationFirstPod = "quorate.io/first-pod";
// In spec.podTemplate: another value makes every Pod anew. Other metadata follows without that.
inline constexpr std::string_view kAnnotationRestartedAt = "kubectl.kubernetes.io/restartedAt";

// ---- Ports ----

inline constexpr int kClientPort = 2379;
inline constexpr int kPeerPort = 2380;
inline constexpr int kMetricsPort = 2381;  // health and metrics: plain HTTP, no credentials
inline constexpr std::string_view kClientPortName = "client";
inline constexpr std::string_view kPeerPortName = "peer";
inline constexpr std::string_view kMetricsPortName = "metrics";

// ---- Pods ----

inline constexpr std::string_view kEtcdContainer = "etcd";
inline constexpr std::string_view kInstallContainer = "install-launch";
inline constexpr std::string_view kEtcdProgram = "/usr/local/bin/etcd";  // in the upstream image
inline constexpr std::string_view kLaunchProgram = "/quorate-launch";    // in our image
inline constexpr std::string_view kDataVolume = "data";
inline constexpr std::string_view kPodVolume = "quorate";
inline constexpr std::string_view kPeerTlsVolume = "peer-tls";
inline constexpr std::string_view kServerTlsVolume = "server-tls";
// Where the Secrets c-peer-tls and c-server-tls are mounted.
inline constexpr std::string_view kPeerTlsFolder = "/etc/etcd/peer-tls";
inline constexpr std::string_view kServerTlsFolder = "/etc/etcd/server-tls";
// Keys of TLS Secrets, as Kubernetes and its users name them.
inline constexpr std::string_view kSecretCa = "ca.crt";
inline constexpr std::string_view kSecretCertificate = "tls.crt";
inline constexpr std::string_view kSecretKey = "tls.key";
// Of an authority that is to take the place of the one in `tls.crt`.
inline constexpr std::string_view kSecretNextCertificate = "next.crt";
inline constexpr std::string_view kSecretNextKey = "next.key";

// ---- Defaults ----

inline constexpr std::string_view kDefaultEtcdVersion = "3.6.16";
inline constexpr std::string_view kDefaultEtcdRepository = "gcr.io/etcd-development/etcd";
inline constexpr Bytes kDefaultStorageSize{std::int64_t{1} << 30};
inline constexpr std::int64_t kDefaultCpuMillis = 100;
inline constexpr Bytes kDefaultMemory{std::int64_t{128} << 20};
inline constexpr Bytes kLeastMemory{std::int64_t{64} << 20};  // less is advised against
inline constexpr int kDefaultReplicas = 3;
inline constexpr std::chrono::seconds kDefaultReplaceAfter = std::chrono::minutes(5);
inline constexpr std::chrono::seconds kDefaultProgressDeadline = std::chrono::minutes(10);
// Of spec.update.
inline constexpr std::chrono::seconds kShortestWindow = std::chrono::minutes(10);
inline constexpr std::chrono::seconds kLongestWindow = std::chrono::hours(24);
inline constexpr std::chrono::seconds kLongestPause = std::chrono::hours(24);
inline constexpr int kMaxReplicas = 9;
// etcd takes two WAL segments of 64 MiB before the first key.
inline constexpr Bytes kMinStorageSize{std::int64_t{256} << 20};

// ---- Names of objects ----

// The longest name of a cluster: a Pod's name is its host name, a DNS label of at most 63
// characters, and ends in a dash and an ordinal of up to ten digits.
inline constexpr std::size_t kMaxClusterName = 52;
// It also names Services, so it is a DNS-1035 label: it begins with a letter.
inline constexpr std::string_view kClusterNamePattern = "^[a-z]([-a-z0-9]*[a-z0-9])?$";

// Shared by all members of a cluster.
std::string client_service_name(std::string_view cluster);     // c
std::string peer_service_name(std::string_view cluster);       // c-peer
std::string disruption_budget_name(std::string_view cluster);  // c
std::string peer_ca_name(std::string_view cluster);            // c-peer-ca
std::string client_ca_name(std::string_view cluster);          // c-client-ca
std::string peer_tls_name(std::string_view cluster);           // c-peer-tls
std::string server_tls_name(std::string_view cluster);         // c-server-tls
std::string client_tls_name(std::string_view cluster);         // c-client-tls
std::string operator_tls_name(std::string_view cluster);       // c-operator-tls

// Of one member: its record, its Pod (and host name), its etcd name.
std::string member_name(std::string_view cluster, Ordinal ordinal);  // c-0
std::string claim_name(std::string_view cluster, Ordinal ordinal);   // data-c-0

// The ordinal in the name of a record or Pod, or of a claim; nothing if it is not such a name of
// this cluster.
std::optional<Ordinal> ordinal_of_member_name(std::string_view cluster, std::string_view name);
std::optional<Ordinal> ordinal_of_claim_name(std::string_view cluster, std::string_view name);

// c-0.c-peer.n.svc: resolvable in every Pod, whatever the cluster domain is.
std::string member_host(const ClusterKey& cluster, Ordinal ordinal);
std::string client_host(const ClusterKey& cluster);  // c.n.svc
std::string peer_url(const ClusterKey& cluster, Ordinal ordinal, bool tls);
std::string client_url(const ClusterKey& cluster, Ordinal ordinal, bool tls);

// SANs of the certificates: a wildcard for the members; that, the client Service and the loopback
// for servers. With a cluster domain ("cluster.local"), the full names of Services as well.
std::vector<std::string> peer_certificate_names(const ClusterKey& cluster, std::string_view domain);
std::vector<std::string> server_certificate_names(const ClusterKey& cluster,
                                                  std::string_view domain);

// initial-cluster-token of a formation: unique in space (UID) and time (number).
std::string formation_token(const Uid& cluster, int number);

// What the scale subresource and people select a cluster's Pods by.
std::string pod_selector(const Uid& cluster);

}  // namespace quorate::api
