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
  managedFields []ManagedFieldsEntry #17 list=atomic
OwnerReference atomic: apiVersion string! #5; kind string! #1; name string! #3; uid $types.UID!;
  controller *bool #6; blockOwnerDeletion *bool
ManagedFieldsEntry: manager string; operation $ManagedFieldsOperationType; apiVersion string; time
  *time; fieldsType string #6; fieldsV1 *raw; subresource string
NamespaceSpec: finalizers []$FinalizerName list=atomic
NamespaceStatus: phase $NamespacePhase; conditions []NamespaceCondition patch=merge key=type
  list=map:type
NamespaceCondition: type $NamespaceConditionType!; status $ConditionStatus!; lastTransitionTime
  time #4; reason string; message string
Node: kind string; apiVersion string; metadata ObjectMeta; spec NodeSpec; status NodeStatus
NodeSpec: podCIDR string; podCIDRs []string #7 patch=merge list=set; providerID string #3;
  unschedulable bool; taints []Taint list=atomic; configSource *NodeConfigSource; externalID
  string #2
Taint: key string!; value string; effect $TaintEffect!; timeAdded *time
NodeConfigSource: configMap *ConfigMapNodeConfigSource #2
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
PodSpec: volumes []Volume patch=retain key=name list=map:name; initContainers []Container #20
  patch=merge key=name list=map:name; containers []Container! #2 patch=merge key=name
  list=map:name; ephemeralContainers []EphemeralContainer #34 patch=merge key=name list=map:name;
  restartPolicy $RestartPolicy #3; terminationGracePeriodSeconds *int64; activeDeadlineSeconds
  *int64; dnsPolicy $DNSPolicy; nodeSelector {}string map=atomic; serviceAccountName string;
  serviceAccount string; automountServiceAccountToken *bool #21; nodeName string #10; hostNetwork
  bool; hostPID bool; hostIPC bool; shareProcessNamespace *bool #27; securityContext
  *PodSecurityContext #14; imagePullSecrets []LocalObjectReference patch=merge key=name
  list=map:name; hostname string; subdomain string; affinity *Affinity; schedulerName string;
  tolerations []Toleration #22 list=atomic; hostAliases []HostAlias patch=merge key=ip
  list=map:ip; priorityClassName string; priority *int32; dnsConfig *PodDNSConfig; readinessGates
  []PodReadinessGate #28 list=atomic; runtimeClassName *string; enableServiceLinks *bool;
  preemptionPolicy *$PreemptionPolicy; overhead {}quantity@ResourceList; topologySpreadConstraints
  []TopologySpreadConstraint patch=merge key=topologyKey list=map:topologyKey,whenUnsatisfiable;
  setHostnameAsFQDN *bool #35; os *PodOS; hostUsers *bool; schedulingGates []PodSchedulingGate
  patch=merge key=name list=map:name; resourceClaims []PodResourceClaim patch=retain key=name
  list=map:name; resources *ResourceRequirements; hostnameOverride *string
Volume: name string!; hostPath *HostPathVolumeSource #2.1; emptyDir *EmptyDirVolumeSource;
  gcePersistentDisk *GCEPersistentDiskVolumeSource; awsElasticBlockStore
  *AWSElasticBlockStoreVolumeSource; gitRepo *GitRepoVolumeSource; secret *SecretVolumeSource; nfs
  *NFSVolumeSource; iscsi *ISCSIVolumeSource; glusterfs *GlusterfsVolumeSource;
  persistentVolumeClaim *PersistentVolumeClaimVolumeSource; rbd *RBDVolumeSource; flexVolume
  *FlexVolumeSource; cinder *CinderVolumeSource; cephfs *CephFSVolumeSource; flocker
  *FlockerVolumeSource; downwardAPI *DownwardAPIVolumeSource; fc *FCVolumeSource; azureFile
  *AzureFileVolumeSource; configMap *ConfigMapVolumeSource; vsphereVolume
  *VsphereVirtualDiskVolumeSource; quobyte *QuobyteVolumeSource; azureDisk *AzureDiskVolumeSource;
  photonPersistentDisk *PhotonPersistentDiskVolumeSource; projected *ProjectedVolumeSource #2.26;
  portworxVolume *PortworxVolumeSource #2.24; scaleIO *ScaleIOVolumeSource; storageos
  *StorageOSVolumeSource #2.27; csi *CSIVolumeSource; ephemeral *EphemeralVolumeSource; image
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
  bool #11; secretRef *LocalObjectReference #10; initiatorName *string #12
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
ConfigMapVolumeSource: name string #1.1; items []KeyToPath #2 list=atomic; defaultMode *int32;
  optional *bool
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
SecretProjection: name string #1.1; items []KeyToPath #2 list=atomic; optional *bool #4
DownwardAPIProjection: items []DownwardAPIVolumeFile list=atomic
ConfigMapProjection: name string #1.1; items []KeyToPath #2 list=atomic; optional *bool #4
ServiceAccountTokenProjection: audience string; expirationSeconds *int64; path string!
ClusterTrustBundleProjection: name *string; signerName *string; labelSelector *LabelSelector;
  optional *bool #5; path string! #4
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
  *LabelSelector #4; resources VolumeResourceRequirements #2; volumeName string; storageClassName
  *string #5; volumeMode *$PersistentVolumeMode; dataSource *TypedLocalObjectReference;
  dataSourceRef *TypedObjectReference; volumeAttributesClassName *string
VolumeResourceRequirements: limits {}quantity@ResourceList; requests {}quantity@ResourceList
TypedLocalObjectReference atomic: apiGroup *string! optional; kind string!; name string!
TypedObjectReference: apiGroup *string! optional; kind string!; name string!; namespace *string
ImageVolumeSource: reference string; pullPolicy $PullPolicy
Container: name string!; image string; command []string list=atomic; args []string list=atomic;
  workingDir string; ports []ContainerPort patch=merge key=containerPort
  list=map:containerPort,protocol; envFrom []EnvFromSource #19 list=atomic; env []EnvVar #7
  patch=merge key=name list=map:name; resources ResourceRequirements; resizePolicy
  []ContainerResizePolicy #23 list=atomic; restartPolicy *$ContainerRestartPolicy;
  restartPolicyRules []ContainerRestartRule list=atomic; volumeMounts []VolumeMount #9 patch=merge
  key=mountPath list=map:mountPath; volumeDevices []VolumeDevice #21 patch=merge key=devicePath
  list=map:devicePath; livenessProbe *Probe #10; readinessProbe *Probe; startupProbe *Probe #22;
  lifecycle *Lifecycle #12; terminationMessagePath string; terminationMessagePolicy
  $TerminationMessagePolicy #20; imagePullPolicy $PullPolicy #14; securityContext
  *SecurityContext; stdin bool; stdinOnce bool; tty bool
ContainerPort: name string; hostPort int32; containerPort int32!; protocol $Protocol default=TCP;
  hostIP string
EnvFromSource: prefix string; configMapRef *ConfigMapEnvSource; secretRef *SecretEnvSource
ConfigMapEnvSource: name string #1.1; optional *bool #2
SecretEnvSource: name string #1.1; optional *bool #2
EnvVar: name string!; value string; valueFrom *EnvVarSource
EnvVarSource: fieldRef *ObjectFieldSelector; resourceFieldRef *ResourceFieldSelector;
  configMapKeyRef *ConfigMapKeySelector; secretKeyRef *SecretKeySelector; fileKeyRef
  *FileKeySelector
ConfigMapKeySelector atomic: name string #1.1; key string! #2; optional *bool
SecretKeySelector atomic: name string #1.1; key string! #2; optional *bool
FileKeySelector atomic: volumeName string!; path string!; key string!; optional *bool
ResourceRequirements: limits {}quantity@ResourceList; requests {}quantity@ResourceList; claims
  []ResourceClaim list=map:name
ResourceClaim: name string!; request string
ContainerResizePolicy: resourceName $ResourceName!; restartPolicy $ResourceResizeRestartPolicy!
ContainerRestartRule: action $ContainerRestartRuleAction required; exitCodes
  *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: operator $ContainerRestartRuleOnExitCodesOperator required;
  values []int32 list=set
VolumeMount: name string!; readOnly bool; recursiveReadOnly *$RecursiveReadOnlyMode #7; mountPath
  string! #3; subPath string; mountPropagation *$MountPropagationMode; subPathExpr string
VolumeDevice: name string!; devicePath string!
Probe: exec *ExecAction #1.1; httpGet *HTTPGetAction; tcpSocket *TCPSocketAction; grpc
  *GRPCAction; initialDelaySeconds int32 #2; timeoutSeconds int32; periodSeconds int32;
  successThreshold int32; failureThreshold int32; terminationGracePeriodSeconds *int64
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
  windowsOptions *WindowsSecurityContextOptions #10; runAsUser *int64 #4; runAsGroup *int64 #8;
  runAsNonRoot *bool #5; readOnlyRootFilesystem *bool; allowPrivilegeEscalation *bool; procMount
  *$ProcMountType #9; seccompProfile *SeccompProfile #11; appArmorProfile *AppArmorProfile
Capabilities: add []$Capability list=atomic; drop []$Capability list=atomic
SELinuxOptions: user string; role string; type string; level string
WindowsSecurityContextOptions: gmsaCredentialSpecName *string; gmsaCredentialSpec *string;
  runAsUserName *string; hostProcess *bool
SeccompProfile: type $SeccompProfileType!; localhostProfile *string
AppArmorProfile: type $AppArmorProfileType!; localhostProfile *string
EphemeralContainer: name string! #1.1; image string; command []string list=atomic; args []string
  list=atomic; workingDir string; ports []ContainerPort patch=merge key=containerPort
  list=map:containerPort,protocol; envFrom []EnvFromSource #1.19 list=atomic; env []EnvVar #1.7
  patch=merge key=name list=map:name; resources ResourceRequirements; resizePolicy
  []ContainerResizePolicy #1.23 list=atomic; restartPolicy *$ContainerRestartPolicy;
  restartPolicyRules []ContainerRestartRule list=atomic; volumeMounts []VolumeMount #1.9
  patch=merge key=mountPath list=map:mountPath; volumeDevices []VolumeDevice #1.21 patch=merge
  key=devicePath list=map:devicePath; livenessProbe *Probe #1.10; readinessProbe *Probe;
  startupProbe *Probe #1.22; lifecycle *Lifecycle #1.12; terminationMessagePath string;
  terminationMessagePolicy $TerminationMessagePolicy #1.20; imagePullPolicy $PullPolicy #1.14;
  securityContext *SecurityContext; stdin bool; stdinOnce bool; tty bool; targetContainerName
  string #2
PodSecurityContext: seLinuxOptions *SELinuxOptions; windowsOptions *WindowsSecurityContextOptions
  #8; runAsUser *int64 #2; runAsGroup *int64 #6; runAsNonRoot *bool #3; supplementalGroups []int64
  list=atomic; supplementalGroupsPolicy *$SupplementalGroupsPolicy #12; fsGroup *int64 #5; sysctls
  []Sysctl #7 list=atomic; fsGroupChangePolicy *$PodFSGroupChangePolicy #9; seccompProfile
  *SeccompProfile; appArmorProfile *AppArmorProfile; seLinuxChangePolicy *$PodSELinuxChangePolicy
  #13
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
PodResourceClaim: name string!; resourceClaimName *string #3; resourceClaimTemplateName *string
PodStatus: observedGeneration int64 #17; phase $PodPhase #1; conditions []PodCondition patch=merge
  key=type list=map:type; message string; reason string; nominatedNodeName string #11; hostIP
  string #5; hostIPs []HostIP #16 patch=merge key=ip list=atomic; podIP string #6; podIPs []PodIP
  #12 patch=merge key=ip list=map:ip; startTime *time #7; initContainerStatuses []ContainerStatus
  #10 list=atomic; containerStatuses []ContainerStatus #8 list=atomic; qosClass $PodQOSClass;
  ephemeralContainerStatuses []ContainerStatus #13 list=atomic; resize $PodResizeStatus;
  resourceClaimStatuses []PodResourceClaimStatus patch=retain key=name list=map:name;
  extendedResourceClaimStatus *PodExtendedResourceClaimStatus #18
PodCondition: type $PodConditionType!; observedGeneration int64 #7; status $ConditionStatus! #2;
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
