package deploy

import (
	"strings"
	"time"
)

// trial shows a rule what it is for, and what it is not for. Series are as promtool writes them, a value every
// 15 s: 0x240 is an hour of 0, 0+10x240 an hour that rises by 10 each time.
type trial struct {
	ill, well []string
	at        time.Duration     // by when it fires, and not a minute after the beginning unless it may
	labels    map[string]string // of the alert, besides severity
}

const (
	itself = `job="keystile",instance="a"`
	hour   = "x240"
)

var (
	ofNode = map[string]string{"job": "keystile", "instance": "a"}
	ofJob  = map[string]string{"job": "keystile"}
)

// one returns a series of the node, with further labels.
func one(metric, values string, labels ...string) string {
	return metric + "{" + strings.Join(append([]string{itself}, labels...), ",") + "}\t" + values
}

func gauge(metric, ill, well string, at time.Duration) trial {
	return trial{[]string{one(metric, ill+hour)}, []string{one(metric, well+hour)}, at, ofNode}
}

// counter is a rule that fires when a counter rises a little, half a minute after the start.
func counter(metric string, labels map[string]string, more ...string) trial {
	return trial{[]string{one(metric, "0x8 1+1"+hour, more...)}, []string{one(metric, "7"+hour, more...)}, 6 * time.Minute,
		labels}
}

func buckets(metric string, fast, slow string, labels ...string) []string {
	var all []string
	for i, le := range []string{"0.1", "5", "+Inf"} {
		values := slow
		if i == 0 {
			values = fast
		}
		all = append(all, one(metric, values, append(labels, `le="`+le+`"`)...))
	}
	return all
}

var trials = map[string]trial{
	"KeystileGone":     {[]string{one("up", "0"+hour)}, []string{one("up", "1"+hour), `up{job="other",instance="b"}` + "\t0" + hour}, 3 * time.Minute, ofNode},
	"KeystileNoNode":   {[]string{one("keystile_ready", "0"+hour)}, []string{one("keystile_ready", "0"+hour), `keystile_ready{job="keystile",instance="b"}` + "\t1" + hour}, 2 * time.Minute, nil},
	"KeystileNotReady": gauge("keystile_ready", "0", "1", 3*time.Minute),
	"KeystileErrors": {
		[]string{one("keystile_http_requests_total", "0+100"+hour, `status="2xx"`), one("keystile_http_requests_total", "0+5"+hour, `status="5xx"`)},
		[]string{one("keystile_http_requests_total", "0+100"+hour, `status="2xx"`), one("keystile_http_requests_total", "0+50"+hour, `status="4xx"`), one("keystile_http_requests_total", "0+1"+hour, `status="5xx"`)},
		6 * time.Minute, ofJob,
	},
	"KeystileSlow": {
		buckets("keystile_http_request_duration_seconds_bucket", "0+90"+hour, "0+100"+hour, `route="/oauth/token"`),
		append(buckets("keystile_http_request_duration_seconds_bucket", "0+100"+hour, "0+100"+hour, `route="/oauth/token"`), // and a stream that lasts
			buckets("keystile_http_request_duration_seconds_bucket", "0"+hour, "0+100"+hour, `route="/api/mcp"`)...),
		11 * time.Minute, ofJob,
	},
	"KeystileRestarts": {[]string{one("process_start_time_seconds", "0+60"+hour)},
		[]string{one("process_start_time_seconds", "5x40 6x200")}, 10 * time.Minute, ofNode},
	"KeystileVersionsDiffer": {
		[]string{one("keystile_build_info", "1x300", `version="v1"`), `keystile_build_info{job="keystile",instance="b",version="v2"}` + "\t1x300"},
		[]string{one("keystile_build_info", "1x300", `version="v1"`), `keystile_build_info{job="keystile",instance="b",version="v1"}` + "\t1x300"},
		61 * time.Minute, ofJob,
	},
	"KeystileStoreRefusesWrites": gauge("keystile_store_ready", "0", "1", 2*time.Minute),
	"KeystileDiskFills": {
		[]string{one("keystile_disk_free_bytes", "9"+hour), one("keystile_disk_size_bytes", "100"+hour)},
		[]string{one("keystile_disk_free_bytes", "11"+hour), one("keystile_disk_size_bytes", "100"+hour)}, 11 * time.Minute,
		ofNode,
	},
	"KeystileStatementsFail": {
		[]string{one("keystile_storage_statement_errors_total", "0+1"+hour, `statement="put"`)},
		[]string{one("keystile_storage_statement_errors_total", "5"+hour, `statement="put"`)}, 6 * time.Minute, ofJob,
	},
	"KeystileStatementsSlow": {
		buckets("keystile_storage_statement_duration_seconds_bucket", "0+90"+hour, "0+100"+hour, `statement="put"`),
		buckets("keystile_storage_statement_duration_seconds_bucket", "0+100"+hour, "0+100"+hour, `statement="put"`), 11 * time.Minute, ofJob,
	},
	"KeystileDatabaseConnectionsUsedUp": {
		[]string{one("keystile_storage_connections_in_use", "15"+hour), one("keystile_storage_connections_max", "16"+hour)},
		[]string{one("keystile_storage_connections_in_use", "8"+hour), one("keystile_storage_connections_max", "16"+hour)},
		6 * time.Minute, ofNode,
	},
	"KeystileLedgerUnhealthy": gauge("keystile_ledger_healthy", "0", "1", 2*time.Minute),
	"KeystileCallsNotCounted": counter("keystile_calls_uncounted_total", ofNode),
	"KeystileLedgerNotMapped": gauge("keystile_ledger_mapped", "0", "1", 31*time.Minute),
	"KeystileAuditLost":       counter("keystile_audit_events_lost_total", ofNode),
	"KeystileFeedLags":        gauge("keystile_feed_age_seconds", "4", "1.5", 2*time.Minute),
	"KeystileFeedStale":       gauge("keystile_feed_stale", "1", "0", time.Minute),
	"KeystileStoreWentBack":   counter("keystile_feed_regressions_total", ofNode),
	"KeystileCountsAlone":     gauge("keystile_counters_alone", "1", "0", 6*time.Minute),
	"KeystileClockWrong": {
		[]string{one("keystile_clock_wrong", "0"+hour), one("keystile_time_seconds", "30+15"+hour)},
		[]string{one("keystile_clock_wrong", "0"+hour), one("keystile_time_seconds", "1+15"+hour)}, 3 * time.Minute, ofNode,
	},
	"KeystileSignInsLocked": {
		[]string{one("keystile_sign_ins_total", "0+15"+hour, `result="locked"`)},
		[]string{one("keystile_sign_ins_total", "0+3"+hour, `result="locked"`), one("keystile_sign_ins_total", "0+99"+hour, `result="ok"`)}, 11 * time.Minute, ofJob,
	},
	"KeystileSignInsFail": {
		[]string{one("keystile_sign_ins_total", "0+15"+hour, `result="failed"`), one("keystile_sign_ins_total", "0+10"+hour, `result="ok"`)},
		[]string{one("keystile_sign_ins_total", "0+15"+hour, `result="failed"`), one("keystile_sign_ins_total", "0+30"+hour, `result="ok"`)}, 21 * time.Minute, ofJob,
	},
	"KeystileConnectionsNearTheCap": {
		[]string{one("keystile_connections_open", "90"+hour, `listener="public"`), one("keystile_connections_max", "100"+hour, `listener="public"`)},
		[]string{ // and a socket that takes any number
			one("keystile_connections_open", "70"+hour, `listener="public"`), one("keystile_connections_max", "100"+hour, `listener="public"`),
			one("keystile_connections_open", "90"+hour, `listener="socket"`), one("keystile_connections_max", "0"+hour, `listener="socket"`),
		}, 3 * time.Minute, map[string]string{"job": "keystile", "instance": "a", "listener": "public"},
	},
	"KeystileConnectionsRefused": {
		[]string{one("keystile_connections_refused_total", "0x8 1+1"+hour, `listener="public"`, `reason="full"`)},
		[]string{one("keystile_connections_refused_total", "0x8 1+1"+hour, `listener="public"`, `reason="address"`)}, 6 * time.Minute, ofNode,
	},
	"KeystileToolsFail": {
		[]string{one("keystile_tool_call_duration_seconds_count", "0+10"+hour, `status="2xx"`), one("keystile_tool_call_duration_seconds_count", "0+5"+hour, `status="5xx"`)},
		[]string{one("keystile_tool_call_duration_seconds_count", "0+10"+hour, `status="2xx"`), one("keystile_tool_call_duration_seconds_count", "0+1"+hour, `status="5xx"`)}, 11 * time.Minute, ofJob,
	},
	"KeystileMailsNotTaken": {[]string{one("keystile_mails_retried", "1"+hour)},
		[]string{one("keystile_mails_retried", "0"+hour), one("keystile_mails_waiting", "9"+hour)}, 11 * time.Minute, ofJob},
	"KeystileWebhooksNotTaken": {[]string{one("keystile_webhooks_retried", "1"+hour)},
		[]string{one("keystile_webhooks_retried", "0"+hour), one("keystile_webhooks_waiting", "9"+hour)}, 31 * time.Minute,
		ofJob},
}
