"""For each alert: series by which it must fire, and series, close to them, by which it must not. See scripts/check-monitoring.

Series are in promtool's notation: '0x30' is 0 thirty-one times, a minute apart; '0+10x30' grows by ten each minute.
"""
cluster = 'namespace="n",name="c"'
day = 86400


def clocked(metric, value):
    return {f"{metric}{{{cluster}}}": f"{value}x60"}


def ratio(size):
    return clocked("quorate_cluster_db_size_bytes", size) | clocked("quorate_cluster_db_quota_bytes", 100)


def fsync(fast, slow):
    """A minute's syncs that took up to 0.5 s, and those that took up to 2 s."""
    def bucket(bound):
        return f'etcd_disk_wal_fsync_duration_seconds_bucket{{namespace="n",pod="c-0",le="{bound}"}}'
    return {bucket("0.5"): f"0+{fast}x60", bucket("2"): f"0+{fast + slow}x60", bucket("+Inf"): f"0+{fast + slow}x60"}


# alert: (series that fire it, series that do not), looked at after half an hour; a third member gives the minutes if that is not right.
cases = {
    "QuorateClusterWithoutLeader": (clocked("quorate_cluster_has_leader", 0), {f"quorate_cluster_has_leader{{{cluster}}}": "1x10 0 1x60"}),
    "QuorateClusterFrozen": ({'quorate_clusters_with_condition{condition="Frozen"}': "1x60"},
                             {'quorate_clusters_with_condition{condition="Frozen"}': "0x60", 'quorate_clusters_with_condition{condition="Degraded"}': "1x60"}),
    "QuorateDatabaseAlmostFull": (ratio(96), ratio(94)),
    "QuorateDatabaseNearsQuota": (ratio(81), ratio(79)),
    # promtool's clock starts at 0.
    "QuorateCertificateExpires": (clocked("quorate_cluster_certificate_expiry_timestamp_seconds", 29 * day),
                                  clocked("quorate_cluster_certificate_expiry_timestamp_seconds", 31 * day)),
    "QuorateMembersNotReady": ({'quorate_members{role="voter",ready="false"}': "1x60"},
                               {'quorate_members{role="voter",ready="false"}': "0x10 1x10 0x60", 'quorate_members{role="learner",ready="false"}': "1x60"}),
    "QuorateMemberLags": (clocked("quorate_cluster_raft_lag_entries", 6000), {f"quorate_cluster_raft_lag_entries{{{cluster}}}": "6000x5 0x60"}),
    "QuorateWaitOverdue": ({'quorate_waits_overdue{rule="heal",verdict="waiting",reason="NodeGone"}': "1x60"},
                           {'quorate_waits_overdue{rule="heal",verdict="waiting",reason="NodeGone"}': "0x60",
                            'quorate_waits{rule="heal",verdict="waiting",reason="NodeGone"}': "1x60"}),
    "QuorateSlowDisk": (fsync(900, 100), fsync(999, 1)),
    "QuorateLeaderChangesOften": ({'etcd_server_leader_changes_seen_total{namespace="n",quorate_io_cluster="c",pod="c-0"}': "0+1x60"},
                                  {'etcd_server_leader_changes_seen_total{namespace="n",quorate_io_cluster="c",pod="c-0"}': "1x15 2x60"}),
    "QuorateNobodyLeads": ({'quorate_leader{instance="a"}': "0x60", 'quorate_leader{instance="b"}': "0x60"},
                           {'quorate_leader{instance="a"}': "1x60", 'quorate_leader{instance="b"}': "0x60"}),
    "QuorateOperatorBehind": ({'quorate_queue_longest_wait_seconds{instance="a"}': "20x60", 'quorate_leader{instance="a"}': "1x60"},
                              {'quorate_queue_longest_wait_seconds{instance="a"}': "0x60", 'quorate_leader{instance="a"}': "1x60",
                               'quorate_queue_longest_wait_seconds{instance="b"}': "900x60", 'quorate_leader{instance="b"}': "0x60"}),
    "QuorateLooksFail": ({"quorate_reconciles_total": "0+10x60", "quorate_reconcile_failures_total": "0+6x60"},
                         {"quorate_reconciles_total": "0+10x60", "quorate_reconcile_failures_total": "0+4x60"}),
    "QuorateRequestsRefused": ({'quorate_kube_requests_total{verb="patch",resource="pods",code="403"}': "0+1x60"},
                               {'quorate_kube_requests_total{verb="patch",resource="pods",code="409"}': "0+1x60",
                                'quorate_kube_requests_total{verb="create",resource="pods",code="terminating"}': "0+1x60",
                                'quorate_kube_requests_total{verb="get",resource="pods",code="403"}': "0x22 3x60"}),  # an API server's first moment
    "QuorateWatchLost": ({'quorate_watches_failing{resource="pods"}': "1x60"}, {'quorate_watches_failing{resource="pods"}': "1x3 0x60"}),
    "QuorateBrokenInvariant": ({"quorate_broken_invariants_total": "0x10 1x60"}, {"quorate_broken_invariants_total": "1x60"}),
}
