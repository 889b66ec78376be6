#include "apiserver/builtin_table.h"

namespace quorate::apiserver {

// Metadata, Namespaces, Nodes, Pods and all that they hold.
// clang-format off
const std::string_view kPodTypes = R"(
Namespace: kind string; apiVersion string; metadata ObjectMeta; spec NamespaceSpec; status
  NamespaceStatus
ObjectMeta: name string; generateName string; namespace string; selfLink string; uid $types.UID;
  resourceVersion string; generation int64; creationTimestamp time omitzero; deletionTimestamp
  *time; deletionGracePeriodSeconds *int64; labels {}string; annotations {}string; ownerReferences
  []OwnerReference patch=merge key=uid list=map:uid; finalizers []string patch=merge list=set;
  managedFields []ManagedFieldsEntry list=atomic
OwnerReference atomic: apiVersion string!; kind string!; name string!; uid $types.UID!; controller
  *bool; blockOwnerDeletion *bool
ManagedFieldsEntry: manager string; operation $ManagedFieldsOperationType; apiVersion string; time
  *time; fieldsType string; fieldsV1 *raw; subresource string
NamespaceSpec: finalizers []$FinalizerName list=atomic
NamespaceStatus: phase $NamespacePhase; conditions []NamespaceCondition patch=merge key=type
  list=map:type
NamespaceCondition: type $NamespaceConditionType!; status $ConditionStatus!; lastTransitionTime
  time; reason string; message string
Node: kind string; apiVersion string; metadata ObjectMeta; spec NodeSpec; status NodeStatus
NodeSpec: podCIDR string; podCIDRs []string patch=merge list=set; providerID string; unschedulable
  bool; taints []Taint list=atomic; configSource *NodeConfigSource; externalID string
Taint: key string!; value string; effect $TaintEffect!; timeAdded *time
NodeConfigSource: configMap *ConfigMapNodeConfigSource
ConfigMapNodeConfigSource: namespace string!; name string!; uid $types.UID; resourceVersion
  string; kubeletConfigKey string!
NodeStatus: capacity {}quantity@ResourceList; allocatable {}quantity@ResourceList; phase
  $NodePhase; conditions []NodeCondition patch=merge key=type list=map:type; addresses
  []NodeAddress patch=merge key=type list=map:type; daemonEndpoints NodeDaemonEndpoints; nodeInfo
  NodeSystemInfo; images []ContainerImage list=atomic; volumesInUse []$UniqueVolumeName
  list=atomic; volumesAttached []AttachedVolume list=atomic; config *NodeConfigStatus;
  runtimeHandlers []NodeRuntimeHandler list=atomic; features *NodeFeatures
NodeCondition: type $NodeConditionType!; status $ConditionStatus!; lastHeartbeatTime time;
  lastTransitionTime time; reason string; message string
NodeAddress: type $NodeAddressType!; address string!
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
DaemonEndpoint: Port int32!
NodeSystemInfo: machineID string!; systemUUID string!; bootID string!; kernelVersion string!;
  osImage string!; containerRuntimeVersion string!; kubeletVersion string!; kubeProxyVersion
  string!; operatingSystem string!; architecture string!; swap *NodeSwapStatus
NodeSwapStatus: capacity *int64
ContainerImage: names []string! list=atomic optional; sizeBytes int64
AttachedVolume: name $UniqueVolumeName!; devicePath string!
NodeConfigStatus: assigned *NodeConfigSource; active *NodeConfigSource; lastKnownGood
  *NodeConfigSource; error string
NodeRuntimeHandler: name string! optional; features *NodeRuntimeHandlerFeatures
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts *bool; userNamespaces *bool
NodeFeatures: supplementalGroupsPolicy *bool
Pod: kind string; apiVersion string; metadata ObjectMeta; spec PodSpec; status PodStatus
PodSpec: volumes []Volume patch=retain key=name list=map:name; initContainers []Container
  patch=merge key=name list=map:name; containers []Container! patch=merge key=name list=map:name;
  ephemeralContainers []EphemeralContainer patch=merge key=name list=map:name; restartPolicy
  $RestartPolicy; terminationGracePeriodSeconds *int64; activeDeadlineSeconds *int64; dnsPolicy
  $DNSPolicy; nodeSelector {}string map=atomic; serviceAccountName string; serviceAccount string;
  automountServiceAccountToken *bool; nodeName string; hostNetwork bool; hostPID bool; hostIPC
  bool; shareProcessNamespace *bool; securityContext *PodSecurityContext; imagePullSecrets
  []LocalObjectReference patch=merge key=name list=map:name; hostname string; subdomain string;
  affinity *Affinity; schedulerName string; tolerations []Toleration list=atomic; hostAliases
  []HostAlias patch=merge key=ip list=map:ip; priorityClassName string; priority *int32; dnsConfig
  *PodDNSConfig; readinessGates []PodReadinessGate list=atomic; runtimeClassName *string;
  enableServiceLinks *bool; preemptionPolicy *$PreemptionPolicy; overhead {}quantity@ResourceList;
  topologySpreadConstraints []TopologySpreadConstraint patch=merge key=topologyKey
  list=map:topologyKey,whenUnsatisfiable; setHostnameAsFQDN *bool; os *PodOS; hostUsers *bool;
  schedulingGates []PodSchedulingGate patch=merge key=name list=map:name; resourceClaims
  []PodResourceClaim patch=retain key=name list=map:name; resources *ResourceRequirements;
  hostnameOverride *string
Volume: name string!; hostPath *HostPathVolumeSource; emptyDir *EmptyDirVolumeSource;
  gcePersistentDisk *GCEPersistentDiskVolumeSource; awsElasticBlockStore
  *AWSElasticBlockStoreVolumeSource; gitRepo *GitRepoVolumeSource; secret *SecretVolumeSource; nfs
  *NFSVolumeSource; iscsi *ISCSIVolumeSource; glusterfs *GlusterfsVolumeSource;
  persistentVolumeClaim *PersistentVolumeClaimVolumeSource; rbd *RBDVolumeSource; flexVolume
  *FlexVolumeSource; cinder *CinderVolumeSource; cephfs *CephFSVolumeSource; flocker
  *FlockerVolumeSource; downwardAPI *DownwardAPIVolumeSource; fc *FCVolumeSource; azureFile
  *AzureFileVolumeSource; configMap *ConfigMapVolumeSource; vsphereVolume
  *VsphereVirtualDiskVolumeSource; quobyte *QuobyteVolumeSource; azureDisk *AzureDiskVolumeSource;
  photonPersistentDisk *PhotonPersistentDiskVolumeSource; projected *ProjectedVolumeSource;
  portworxVolume *PortworxVolumeSource; scaleIO *ScaleIOVolumeSource; storageos
  *StorageOSVolumeSource; csi *CSIVolumeSource; ephemeral *EphemeralVolumeSource; image
  *ImageVolumeSource
HostPathVolumeSource: path string!; type *$HostPathType
EmptyDirVolumeSource: medium $StorageMedium; sizeLimit *quantity
GCEPersistentDiskVolumeSource: pdName string!; fsType string; partition int32; readOnly bool
AWSElasticBlockStoreVolumeSource: volumeID string!; fsType string; partition int32; readOnly bool
GitRepoVolumeSource: repository string!; revision string; directory string
SecretVolumeSource: secretName string; items []KeyToPath list=atomic; defaultMode *int32; optional
  *bool
KeyToPath: key string!; path string!; mode *int32
NFSVolumeSource: server string!; path string!; readOnly bool
ISCSIVolumeSource: targetPortal string!; iqn string!; lun int32!; iscsiInterface string; fsType
  string; readOnly bool; portals []string list=atomic; chapAuthDiscovery bool; chapAuthSession
  bool; secretRef *LocalObjectReference; initiatorName *string
LocalObjectReference atomic: name string
GlusterfsVolumeSource: endpoints string!; path string!; readOnly bool
PersistentVolumeClaimVolumeSource: claimName string!; readOnly bool
RBDVolumeSource: monitors []string! list=atomic; image string!; fsType string; pool string; user
  string; keyring string; secretRef *LocalObjectReference; readOnly bool
FlexVolumeSource: driver string!; fsType string; secretRef *LocalObjectReference; readOnly bool;
  options {}string
CinderVolumeSource: volumeID string!; fsType string; readOnly bool; secretRef
  *LocalObjectReference
CephFSVolumeSource: monitors []string! list=atomic; path string; user string; secretFile string;
  secretRef *LocalObjectReference; readOnly bool
FlockerVolumeSource: datasetName string; datasetUUID string
DownwardAPIVolumeSource: items []DownwardAPIVolumeFile list=atomic; defaultMode *int32
DownwardAPIVolumeFile: path string!; fieldRef *ObjectFieldSelector; resourceFieldRef
  *ResourceFieldSelector; mode *int32
ObjectFieldSelector atomic: apiVersion string; fieldPath string!
ResourceFieldSelector atomic: containerName string; resource string!; divisor quantity
FCVolumeSource: targetWWNs []string list=atomic; lun *int32; fsType string; readOnly bool; wwids
  []string list=atomic
AzureFileVolumeSource: secretName string!; shareName string!; readOnly bool
ConfigMapVolumeSource: name string; items []KeyToPath list=atomic; defaultMode *int32; optional
  *bool
VsphereVirtualDiskVolumeSource: volumePath string!; fsType string; storagePolicyName string;
  storagePolicyID string
QuobyteVolumeSource: registry string!; volume string!; readOnly bool; user string; group string;
  tenant string
AzureDiskVolumeSource: diskName string!; diskURI string!; cachingMode *$AzureDataDiskCachingMode;
  fsType *string; readOnly *bool; kind *$AzureDataDiskKind
PhotonPersistentDiskVolumeSource: pdID string!; fsType string
ProjectedVolumeSource: sources []VolumeProjection! list=atomic optional; defaultMode *int32
VolumeProjection: secret *SecretProjection; downwardAPI *DownwardAPIProjection; configMap
  *ConfigMapProjection; serviceAccountToken *ServiceAccountTokenProjection; clusterTrustBundle
  *ClusterTrustBundleProjection; podCertificate *PodCertificateProjection
SecretProjection: name string; items []KeyToPath list=atomic; optional *bool
DownwardAPIProjection: items []DownwardAPIVolumeFile list=atomic
ConfigMapProjection: name string; items []KeyToPath list=atomic; optional *bool
ServiceAccountTokenProjection: audience string; expirationSeconds *int64; path string!
ClusterTrustBundleProjection: name *string; signerName *string; labelSelector *LabelSelector;
  optional *bool; path string!
LabelSelector atomic: matchLabels {}string; matchExpressions []LabelSelectorRequirement
  list=atomic
LabelSelectorRequirement: key string!; operator $LabelSelectorOperator!; values []string
  list=atomic
PodCertificateProjection: signerName string required; keyType string required;
  maxExpirationSeconds *int32; credentialBundlePath string; keyPath string; certificateChainPath
  string
PortworxVolumeSource: volumeID string!; fsType string; readOnly bool
ScaleIOVolumeSource: gateway string!; system string!; secretRef *LocalObjectReference!; sslEnabled
  bool; protectionDomain string; storagePool string; storageMode string; volumeName string; fsType
  string; readOnly bool
StorageOSVolumeSource: volumeName string; volumeNamespace string; fsType string; readOnly bool;
  secretRef *LocalObjectReference
CSIVolumeSource: driver string!; readOnly *bool; fsType *string; volumeAttributes {}string;
  nodePublishSecretRef *LocalObjectReference
EphemeralVolumeSource: volumeClaimTemplate *PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate: metadata ObjectMeta; spec PersistentVolumeClaimSpec!
PersistentVolumeClaimSpec: accessModes []$PersistentVolumeAccessMode list=atomic; selector
  *LabelSelector; resources VolumeResourceRequirements; volumeName string; storageClassName
  *string; volumeMode *$PersistentVolumeMode; dataSource *TypedLocalObjectReference; dataSourceRef
  *TypedObjectReference; volumeAttributesClassName *string
VolumeResourceRequirements: limits {}quantity@ResourceList; requests {}quantity@ResourceList
TypedLocalObjectReference atomic: apiGroup *string! optional; kind string!; name string!
TypedObjectReference: apiGroup *string! optional; kind string!; name string!; namespace *string
ImageVolumeSource: reference string; pullPolicy $PullPolicy
Container: name string!; image string; command []string list=atomic; args []string list=atomic;
  workingDir string; ports []ContainerPort patch=merge key=containerPort
  list=map:containerPort,protocol; envFrom []EnvFromSource list=atomic; env []EnvVar patch=merge
  key=name list=map:name; resources ResourceRequirements; resizePolicy []ContainerResizePolicy
  list=atomic; restartPolicy *$ContainerRestartPolicy; restartPolicyRules []ContainerRestartRule
  list=atomic; volumeMounts []VolumeMount patch=merge key=mountPath list=map:mountPath;
  volumeDevices []VolumeDevice patch=merge key=devicePath list=map:devicePath; livenessProbe
  *Probe; readinessProbe *Probe; startupProbe *Probe; lifecycle *Lifecycle; terminationMessagePath
  string; terminationMessagePolicy $TerminationMessagePolicy; imagePullPolicy $PullPolicy;
  securityContext *SecurityContext; stdin bool; stdinOnce bool; tty bool
ContainerPort: name string; hostPort int32; containerPort int32!; protocol $Protocol default=TCP;
  hostIP string
EnvFromSource: prefix string; configMapRef *ConfigMapEnvSource; secretRef *SecretEnvSource
ConfigMapEnvSource: name string; optional *bool
SecretEnvSource: name string; optional *bool
EnvVar: name string!; value string; valueFrom *EnvVarSource
EnvVarSource: fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector;
  configMapKeyRef *ConfigMapKeySelector; secretKeyRef *SecretKeySelector; fileKeyRef
  *FileKeySelector
ConfigMapKeySelector atomic: name string; key string!; optional *bool
SecretKeySelector atomic: name string; key string!; optional *bool
FileKeySelector atomic: volumeName string!; path string!; key string!; optional *bool
ResourceRequirements: limits {}quantity@ResourceList; requests {}quantity@ResourceList; claims
  []ResourceClaim list=map:name
ResourceClaim: name string!; request string
ContainerResizePolicy: resourceName $ResourceName!; restartPolicy $ResourceResizeRestartPolicy!
ContainerRestartRule: action $ContainerRestartRuleAction required; exitCodes
  *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator $ContainerRestartRuleOnExitCodesOperator required;
  values []int32 list=set
VolumeMount: name string!; readOnly bool; recursiveReadOnly *$RecursiveReadOnlyMode; mountPath
  string!; subPath string; mountPropagation *$MountPropagationMode; subPathExpr string
VolumeDevice: name string!; devicePath string!
Probe: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; grpc *GRPCAction;
  initialDelaySeconds int32; timeoutSeconds int32; periodSeconds int32; successThreshold int32;
  failureThreshold int32; terminationGracePeriodSeconds *int64
ExecAction: command []string list=atomic
HTTPGetAction: path string; port intstr!; host string; scheme $URIScheme; httpHeaders []HTTPHeader
  list=atomic
HTTPHeader: name string!; value string!
TCPSocketAction: port intstr!; host string
GRPCAction: port int32!; service *string! optional
Lifecycle: postStart *LifecycleHandler; preStop *LifecycleHandler; stopSignal *$Signal
LifecycleHandler: exec *ExecAction; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; sleep
  *SleepAction
SleepAction: seconds int64!
SecurityContext: capabilities *Capabilities; privileged *bool; seLinuxOptions *SELinuxOptions;
  windowsOptions *WindowsSecurityContextOptions; runAsUser *int64; runAsGroup *int64; runAsNonRoot
  *bool; readOnlyRootFilesystem *bool; allowPrivilegeEscalation *bool; procMount *$ProcMountType;
  seccompProfile *SeccompProfile; appArmorProfile *AppArmorProfile
Capabilities: add []$Capability list=atomic; drop []$Capability list=atomic
SELinuxOptions: user string; role string; type string; level string
WindowsSecurityContextOptions: gmsaCredentialSpecName *string; gmsaCredentialSpec *string;
  runAsUserName *string; hostProcess *bool
SeccompProfile: type $SeccompProfileType!; localhostProfile *string
AppArmorProfile: type $AppArmorProfileType!; localhostProfile *string
EphemeralContainer: name string!; image string; command []string list=atomic; args []string
  list=atomic; workingDir string; ports []ContainerPort patch=merge key=containerPort
  list=map:containerPort,protocol; envFrom []EnvFromSource list=atomic; env []EnvVar patch=merge
  key=name list=map:name; resources ResourceRequirements; resizePolicy []ContainerResizePolicy
  list=atomic; restartPolicy *$ContainerRestartPolicy; restartPolicyRules []ContainerRestartRule
  list=atomic; volumeMounts []VolumeMount patch=merge key=mountPath list=map:mountPath;
  volumeDevices []VolumeDevice patch=merge key=devicePath list=map:devicePath; livenessProbe
  *Probe; readinessProbe *Probe; startupProbe *Probe; lifecycle *Lifecycle; terminationMessagePath
  string; terminationMessagePolicy $TerminationMessagePolicy; imagePullPolicy $PullPolicy;
  securityContext *SecurityContext; stdin bool; stdinOnce bool; tty bool; targetContainerName
  string
PodSecurityContext: seLinuxOptions *SELinuxOptions; windowsOptions *WindowsSecurityContextOptions;
  runAsUser *int64; runAsGroup *int64; runAsNonRoot *bool; supplementalGroups []int64 list=atomic;
  supplementalGroupsPolicy *$SupplementalGroupsPolicy; fsGroup *int64; sysctls []Sysctl
  list=atomic; fsGroupChangePolicy *$PodFSGroupChangePolicy; seccompProfile *SeccompProfile;
  appArmorProfile *AppArmorProfile; seLinuxChangePolicy *$PodSELinuxChangePolicy
Sysctl: name string!; value string!
Affinity: nodeAffinity *NodeAffinity; podAffinity *PodAffinity; podAntiAffinity *PodAntiAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution *NodeSelector;
  preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm list=atomic
NodeSelector atomic: nodeSelectorTerms []NodeSelectorTerm! list=atomic
NodeSelectorTerm atomic: matchExpressions []NodeSelectorRequirement list=atomic; matchFields
  []NodeSelectorRequirement list=atomic
NodeSelectorRequirement: key string!; operator $NodeSelectorOperator!; values []string list=atomic
PreferredSchedulingTerm: weight int32!; preference NodeSelectorTerm!
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm list=atomic;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm list=atomic
PodAffinityTerm: labelSelector *LabelSelector; namespaces []string list=atomic; topologyKey
  string!; namespaceSelector *LabelSelector; matchLabelKeys []string list=atomic;
  mismatchLabelKeys []string list=atomic
WeightedPodAffinityTerm: weight int32!; podAffinityTerm PodAffinityTerm!
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm list=atomic;
  preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm list=atomic
Toleration: key string; operator $TolerationOperator; value string; effect $TaintEffect;
  tolerationSeconds *int64
HostAlias: ip string!; hostnames []string list=atomic
PodDNSConfig: nameservers []string list=atomic; searches []string list=atomic; options
  []PodDNSConfigOption list=atomic
PodDNSConfigOption: name string; value *string
PodReadinessGate: conditionType $PodConditionType!
TopologySpreadConstraint: maxSkew int32!; topologyKey string!; whenUnsatisfiable
  $UnsatisfiableConstraintAction!; labelSelector *LabelSelector; minDomains *int32;
  nodeAffinityPolicy *$NodeInclusionPolicy; nodeTaintsPolicy *$NodeInclusionPolicy; matchLabelKeys
  []string list=atomic
PodOS: name $OSName!
PodSchedulingGate: name string!
PodResourceClaim: name string!; resourceClaimName *string; resourceClaimTemplateName *string
PodStatus: observedGeneration int64; phase $PodPhase; conditions []PodCondition patch=merge
  key=type list=map:type; message string; reason string; nominatedNodeName string; hostIP string;
  hostIPs []HostIP patch=merge key=ip list=atomic; podIP string; podIPs []PodIP patch=merge key=ip
  list=map:ip; startTime *time; initContainerStatuses []ContainerStatus list=atomic;
  containerStatuses []ContainerStatus list=atomic; qosClass $PodQOSClass;
  ephemeralContainerStatuses []ContainerStatus list=atomic; resize $PodResizeStatus;
  resourceClaimStatuses []PodResourceClaimStatus patch=retain key=name list=map:name;
  extendedResourceClaimStatus *PodExtendedResourceClaimStatus
PodCondition: type $PodConditionType!; observedGeneration int64; status $ConditionStatus!;
  lastProbeTime time; lastTransitionTime time; reason string; message string
HostIP: ip string!
PodIP: ip string!
ContainerStatus: name string!; state ContainerState; lastState ContainerState; ready bool!;
  restartCount int32!; image string!; imageID string!; containerID string; started *bool;
  allocatedResources {}quantity@ResourceList; resources *ResourceRequirements; volumeMounts
  []VolumeMountStatus patch=merge key=mountPath list=map:mountPath; user *ContainerUser;
  allocatedResourcesStatus []ResourceStatus patch=merge key=name list=map:name; stopSignal
  *$Signal
ContainerState: waiting *ContainerStateWaiting; running *ContainerStateRunning; terminated
  *ContainerStateTerminated
ContainerStateWaiting: reason string; message string
ContainerStateRunning: startedAt time
ContainerStateTerminated: exitCode int32!; signal int32; reason string; message string; startedAt
  time; finishedAt time; containerID string
VolumeMountStatus: name string!; mountPath string!; readOnly bool; recursiveReadOnly
  *$RecursiveReadOnlyMode
ContainerUser: linux *LinuxContainerUser
LinuxContainerUser: uid int64!; gid int64!; supplementalGroups []int64 list=atomic
ResourceStatus: name $ResourceName!; resources []ResourceHealth list=map:resourceID
ResourceHealth: resourceID $ResourceID!; health $ResourceHealthStatus
PodResourceClaimStatus: name string!; resourceClaimName *string
PodExtendedResourceClaimStatus: requestMappings []ContainerExtendedResourceRequest! list=atomic;
  resourceClaimName string!
ContainerExtendedResourceRequest: containerName string!; resourceName string!; requestName string!
)";
// clang-format on

}  // namespace quorate::apiserver
