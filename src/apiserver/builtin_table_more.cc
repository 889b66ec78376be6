#include "apiserver/builtin_table.h"

namespace quorate::apiserver {

// The other kinds.
// clang-format off
const std::string_view kOtherTypes = R"(
Service: kind string; apiVersion string; metadata ObjectMeta; spec ServiceSpec; status
  ServiceStatus
ServiceSpec: ports []ServicePort patch=merge key=port list=map:port,protocol; selector {}string
  map=atomic; clusterIP string; clusterIPs []string #18 list=atomic; type $ServiceType #4;
  externalIPs []string list=atomic; sessionAffinity $ServiceAffinity #7; loadBalancerIP string;
  loadBalancerSourceRanges []string list=atomic; externalName string; externalTrafficPolicy
  $ServiceExternalTrafficPolicy; healthCheckNodePort int32; publishNotReadyAddresses bool;
  sessionAffinityConfig *SessionAffinityConfig; ipFamilies []$IPFamily #19 list=atomic;
  ipFamilyPolicy *$IPFamilyPolicy #17; allocateLoadBalancerNodePorts *bool #20; loadBalancerClass
  *string; internalTrafficPolicy *$ServiceInternalTrafficPolicy; trafficDistribution *string
ServicePort: name string; protocol $Protocol default=TCP; appProtocol *string #6; port int32! #3;
  targetPort intstr; nodePort int32
SessionAffinityConfig: clientIP *ClientIPConfig
ClientIPConfig: timeoutSeconds *int32
ServiceStatus: loadBalancer LoadBalancerStatus; conditions []Condition patch=merge key=type
  list=map:type
LoadBalancerStatus: ingress []LoadBalancerIngress list=atomic
LoadBalancerIngress: ip string; hostname string; ipMode *$LoadBalancerIPMode; ports []PortStatus
  list=atomic
PortStatus: port int32!; protocol $Protocol!; error *string
Condition: type string!; status $ConditionStatus!; observedGeneration int64; lastTransitionTime
  time!; reason string!; message string!
ConfigMap: kind string; apiVersion string; metadata ObjectMeta; immutable *bool #4; data {}string
  #2; binaryData {}bytes
Secret: kind string; apiVersion string; metadata ObjectMeta; immutable *bool #5; data {}bytes #2;
  stringData {}string #4; type $SecretType #3
ServiceAccount: kind string; apiVersion string; metadata ObjectMeta; secrets []ObjectReference
  patch=merge key=name list=map:name; imagePullSecrets []LocalObjectReference list=atomic;
  automountServiceAccountToken *bool
ObjectReference atomic: kind string; namespace string; name string; uid $types.UID; apiVersion
  string; resourceVersion string; fieldPath string
PersistentVolumeClaim: kind string; apiVersion string; metadata ObjectMeta; spec
  PersistentVolumeClaimSpec; status PersistentVolumeClaimStatus
PersistentVolumeClaimStatus: phase $PersistentVolumeClaimPhase; accessModes
  []$PersistentVolumeAccessMode list=atomic; capacity {}quantity@ResourceList; conditions
  []PersistentVolumeClaimCondition patch=merge key=type list=map:type; allocatedResources
  {}quantity@ResourceList; allocatedResourceStatuses {}$ClaimResourceStatus #7 map=granular;
  currentVolumeAttributesClassName *string; modifyVolumeStatus *ModifyVolumeStatus
PersistentVolumeClaimCondition: type $PersistentVolumeClaimConditionType!; status
  $ConditionStatus!; lastProbeTime time; lastTransitionTime time; reason string; message string
ModifyVolumeStatus: targetVolumeAttributesClassName string; status
  $PersistentVolumeClaimModifyVolumeStatus!
PersistentVolume: kind string; apiVersion string; metadata ObjectMeta; spec PersistentVolumeSpec;
  status PersistentVolumeStatus
PersistentVolumeSpec: capacity {}quantity@ResourceList; gcePersistentDisk
  *GCEPersistentDiskVolumeSource #2.1; awsElasticBlockStore *AWSElasticBlockStoreVolumeSource;
  hostPath *HostPathVolumeSource; glusterfs *GlusterfsPersistentVolumeSource; nfs
  *NFSVolumeSource; rbd *RBDPersistentVolumeSource; iscsi *ISCSIPersistentVolumeSource; cinder
  *CinderPersistentVolumeSource; cephfs *CephFSPersistentVolumeSource; fc *FCVolumeSource; flocker
  *FlockerVolumeSource; flexVolume *FlexPersistentVolumeSource; azureFile
  *AzureFilePersistentVolumeSource; vsphereVolume *VsphereVirtualDiskVolumeSource; quobyte
  *QuobyteVolumeSource; azureDisk *AzureDiskVolumeSource; photonPersistentDisk
  *PhotonPersistentDiskVolumeSource; portworxVolume *PortworxVolumeSource; scaleIO
  *ScaleIOPersistentVolumeSource; local *LocalVolumeSource; storageos
  *StorageOSPersistentVolumeSource; csi *CSIPersistentVolumeSource; accessModes
  []$PersistentVolumeAccessMode #3 list=atomic; claimRef *ObjectReference map=granular;
  persistentVolumeReclaimPolicy $PersistentVolumeReclaimPolicy; storageClassName string;
  mountOptions []string list=atomic; volumeMode *$PersistentVolumeMode; nodeAffinity
  *VolumeNodeAffinity; volumeAttributesClassName *string
GlusterfsPersistentVolumeSource: endpoints string!; path string!; readOnly bool;
  endpointsNamespace *string
RBDPersistentVolumeSource: monitors []string! list=atomic; image string!; fsType string; pool
  string; user string; keyring string; secretRef *SecretReference; readOnly bool
SecretReference atomic: name string; namespace string
ISCSIPersistentVolumeSource: targetPortal string!; iqn string!; lun int32!; iscsiInterface string;
  fsType string; readOnly bool; portals []string list=atomic; chapAuthDiscovery bool;
  chapAuthSession bool #11; secretRef *SecretReference #10; initiatorName *string #12
CinderPersistentVolumeSource: volumeID string!; fsType string; readOnly bool; secretRef
  *SecretReference
CephFSPersistentVolumeSource: monitors []string! list=atomic; path string; user string; secretFile
  string; secretRef *SecretReference; readOnly bool
FlexPersistentVolumeSource: driver string!; fsType string; secretRef *SecretReference; readOnly
  bool; options {}string
AzureFilePersistentVolumeSource: secretName string!; shareName string!; readOnly bool;
  secretNamespace *string! optional
ScaleIOPersistentVolumeSource: gateway string!; system string!; secretRef *SecretReference!;
  sslEnabled bool; protectionDomain string; storagePool string; storageMode string; volumeName
  string; fsType string; readOnly bool
LocalVolumeSource: path string!; fsType *string
StorageOSPersistentVolumeSource: volumeName string; volumeNamespace string; fsType string;
  readOnly bool; secretRef *ObjectReference
CSIPersistentVolumeSource: driver string!; volumeHandle string!; readOnly bool; fsType string;
  volumeAttributes {}string; controllerPublishSecretRef *SecretReference; nodeStageSecretRef
  *SecretReference; nodePublishSecretRef *SecretReference; controllerExpandSecretRef
  *SecretReference; nodeExpandSecretRef *SecretReference
VolumeNodeAffinity: required *NodeSelector
PersistentVolumeStatus: phase $PersistentVolumePhase; message string; reason string;
  lastPhaseTransitionTime *time
Event: kind string; apiVersion string; metadata ObjectMeta!; involvedObject ObjectReference!;
  reason string; message string; source EventSource; firstTimestamp time; lastTimestamp time;
  count int32; type string; eventTime microtime; series *EventSeries; action string; related
  *ObjectReference; reportingComponent string! optional; reportingInstance string! optional
EventSource: component string; host string
EventSeries: count int32; lastObservedTime microtime
events.Event: kind string; apiVersion string; metadata ObjectMeta! optional; eventTime microtime!;
  series *events.EventSeries; reportingController string; reportingInstance string; action string;
  reason string; regarding ObjectReference; related *ObjectReference; note string; type string;
  deprecatedSource EventSource; deprecatedFirstTimestamp time; deprecatedLastTimestamp time;
  deprecatedCount int32
events.EventSeries: count int32!; lastObservedTime microtime!
EndpointSlice: kind string; apiVersion string; metadata ObjectMeta; addressType $AddressType! #4;
  endpoints []Endpoint! #2 list=atomic; ports []EndpointPort! list=atomic optional
Endpoint: addresses []string! list=set; conditions EndpointConditions; hostname *string; targetRef
  *ObjectReference; deprecatedTopology {}string; nodeName *string; zone *string; hints
  *EndpointHints
EndpointConditions: ready *bool; serving *bool; terminating *bool
EndpointHints: forZones []ForZone list=atomic; forNodes []ForNode list=atomic
ForZone: name string!
ForNode: name string!
EndpointPort atomic: name *string; protocol *$Protocol #3; port *int32 #2; appProtocol *string #4
StorageClass: kind string; apiVersion string; metadata ObjectMeta; provisioner string!; parameters
  {}string; reclaimPolicy *$PersistentVolumeReclaimPolicy; mountOptions []string list=atomic;
  allowVolumeExpansion *bool; volumeBindingMode *$VolumeBindingMode; allowedTopologies
  []TopologySelectorTerm list=atomic
TopologySelectorTerm atomic: matchLabelExpressions []TopologySelectorLabelRequirement list=atomic
TopologySelectorLabelRequirement: key string!; values []string! list=atomic
PodDisruptionBudget: kind string; apiVersion string; metadata ObjectMeta; spec
  PodDisruptionBudgetSpec; status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable *intstr; selector *LabelSelector patch=replace;
  maxUnavailable *intstr; unhealthyPodEvictionPolicy *$UnhealthyPodEvictionPolicyType
PodDisruptionBudgetStatus: observedGeneration int64; disruptedPods {}time; disruptionsAllowed
  int32!; currentHealthy int32!; desiredHealthy int32!; expectedPods int32!; conditions
  []Condition patch=merge key=type list=map:type
Lease: kind string; apiVersion string; metadata ObjectMeta; spec LeaseSpec
LeaseSpec: holderIdentity *string; leaseDurationSeconds *int32; acquireTime *microtime; renewTime
  *microtime; leaseTransitions *int32; strategy *$CoordinatedLeaseStrategy; preferredHolder
  *string
Job: kind string; apiVersion string; metadata ObjectMeta; spec JobSpec; status JobStatus
JobSpec: parallelism *int32; completions *int32; activeDeadlineSeconds *int64; podFailurePolicy
  *PodFailurePolicy #11; successPolicy *SuccessPolicy #16; backoffLimit *int32 #7;
  backoffLimitPerIndex *int32 #12; maxFailedIndexes *int32; selector *LabelSelector #4;
  manualSelector *bool; template PodTemplateSpec!; ttlSecondsAfterFinished *int32 #8;
  completionMode *$CompletionMode; suspend *bool; podReplacementPolicy *$PodReplacementPolicy #14;
  managedBy *string
PodFailurePolicy: rules []PodFailurePolicyRule! list=atomic
PodFailurePolicyRule: action $PodFailurePolicyAction!; onExitCodes
  *PodFailurePolicyOnExitCodesRequirement; onPodConditions
  []PodFailurePolicyOnPodConditionsPattern list=atomic
PodFailurePolicyOnExitCodesRequirement: containerName *string; operator
  $PodFailurePolicyOnExitCodesOperator!; values []int32! list=set
PodFailurePolicyOnPodConditionsPattern: type $PodConditionType!; status $ConditionStatus!
SuccessPolicy: rules []SuccessPolicyRule! list=atomic
SuccessPolicyRule: succeededIndexes *string; succeededCount *int32
PodTemplateSpec: metadata ObjectMeta; spec PodSpec
JobStatus: conditions []JobCondition patch=merge key=type list=atomic; startTime *time;
  completionTime *time; active int32; succeeded int32; failed int32; terminating *int32 #11;
  completedIndexes string #7; failedIndexes *string #10; uncountedTerminatedPods
  *UncountedTerminatedPods #8; ready *int32
JobCondition: type $JobConditionType!; status $ConditionStatus!; lastProbeTime time;
  lastTransitionTime time; reason string; message string
UncountedTerminatedPods: succeeded []$types.UID list=set; failed []$types.UID list=set
Eviction: kind string; apiVersion string; metadata ObjectMeta; deleteOptions *DeleteOptions
DeleteOptions: kind string; apiVersion string; gracePeriodSeconds *int64; preconditions
  *Preconditions; orphanDependents *bool; propagationPolicy *$DeletionPropagation; dryRun []string
  list=atomic; ignoreStoreReadErrorWithClusterBreakingPotential *bool
Preconditions: uid *$types.UID; resourceVersion *string
Scale: kind string; apiVersion string; metadata ObjectMeta; spec ScaleSpec; status ScaleStatus
ScaleSpec: replicas int32
ScaleStatus: replicas int32!; selector string
Binding: kind string; apiVersion string; metadata ObjectMeta; target ObjectReference!
)";
// clang-format on

}  // namespace quorate::apiserver
