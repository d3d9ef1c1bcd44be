package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage/driver"
)

// called stores usage as servers do, in the last hour that is over.
func (o *office) called(id string) time.Time {
	o.t.Helper()
	at := driver.Hour(time.Now())
	err := o.target.Store.Count(o.t.Context(), driver.Batch{Node: "n", Seq: 1}, []driver.Count{
		{AppID: id, Product: "mcp", At: at, Calls: 7, Errors: 2},
		{AppID: id + "\x1fby:tool", Product: "=shop__order", At: at, Calls: 7, Errors: 2},
		{AppID: "\x1fby:service", Product: "all", At: at, Calls: 9, Errors: 2},
		{AppID: "\x1fby:product", Product: "mcp", At: at, Calls: 9, Errors: 2},
		{AppID: "\x1fby:latency", Product: "000020", At: at, Calls: 8},
		{AppID: "\x1fby:latency", Product: "beyond", At: at, Calls: 1},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	_, err = o.target.Store.SaveRanking(o.t.Context(), ranking.Ranking{
		ID: "r", Of: ranking.Tools, Day: driver.Day(at), Names: []string{"shop__order", "mail__send"}, Calls: []int64{7, 5},
		Errors: []int64{2, 0}, Over: []int64{0, 2},
	})
	if err == nil {
		_, err = o.target.Store.SaveRanking(o.t.Context(), ranking.Ranking{ID: "agents", Of: ranking.Agents,
			Day: driver.Day(at), Names: []string{"planner"}, Calls: []int64{4}, Errors: []int64{1}, Over: []int64{0}})
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return at
}

func TestUsageIsShownOfTheServiceAndOfAnApplication(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	at := o.called(id)
	rows := o.rows("usage")
	last := rows[len(rows)-1]
	if len(rows) != 24 || last["at"] != string(when(at)) || last["calls"] != 9.0 || last["errors"] != 2.0 ||
		last["p99"] != 100.0 || rows[0]["p99"] != 0.0 {
		t.Errorf("the service has %d rows, the last %v", len(rows), last)
	}
	if _, out, errs := o.run("", "usage"); !strings.Contains(out, "total") || !strings.Contains(out, "1m40s") ||
		strings.Count(out, "\n") != 26 {
		t.Errorf("usage is\n%s%s", out, errs)
	}
	if _, out, _ := o.run("", "usage", "--csv", "--daily"); !strings.HasPrefix(out, "at,calls,errors,p50,p95,p99\n") ||
		strings.Contains(out, "total") {
		t.Errorf("usage --csv is\n%s", out)
	}
	if rows := o.rows("usage", "--app", id, "--by", "tool"); len(rows) != 1 || rows[0]["tool"] != "=shop__order" ||
		rows[0]["calls"] != 7.0 {
		t.Errorf("the tools are %v", rows)
	}
	if _, out, _ := o.run("", "usage", "--app", id, "--by", "tool", "--csv"); !strings.Contains(out,
		fmt.Sprint(when(at), ",'=shop__order,7,2\n")) {
		t.Errorf("the table of tools is\n%s", out)
	}
	err := o.target.Store.Count(t.Context(), driver.Batch{Node: "n", Seq: 2}, []driver.Count{
		{AppID: id + "\x1fby:agent", Product: "planner", At: at, Calls: 4, Errors: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, out, _ := o.run("", "usage", "--app", id, "--by", "agent", "--csv"); !strings.HasPrefix(out,
		"at,agent,calls,errors\n") || !strings.Contains(out, fmt.Sprint(when(at), ",planner,4,2\n")) ||
		!strings.Contains(out, fmt.Sprint(when(at), ",", id, ",3,0\n")) {
		t.Errorf("the table of agents is\n%s", out)
	}
	if said := o.must("usage", "forecast", id); said["used"] != 7.0 || said["limit"] != 1000.0 || said["over"] != 0.0 ||
		said["runs_out_at"] != nil {
		t.Errorf("the forecast is %v", said)
	}
}

func TestTopShowsWhatIsCertain(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.called(id)
	rows := o.rows("usage", "top", "--tools")
	if len(rows) != 2 || rows[0]["tool"] != "shop__order" || rows[0]["calls"] != 7.0 || rows[0]["at_least"] != false ||
		rows[1]["calls"] != 3.0 || rows[1]["at_least"] != true {
		t.Errorf("the top tools are %v", rows)
	}
	if _, out, _ := o.run("", "usage", "top", "--tools", "--days", "30", "--count", "2"); !strings.Contains(out, "3+") ||
		strings.Contains(out, "7+") {
		t.Errorf("the top tools are\n%s", out)
	}
	if rows := o.rows("usage", "top", "--agents"); len(rows) != 1 || rows[0]["agent"] != "planner" ||
		rows[0]["calls"] != 4.0 {
		t.Errorf("the top agents are %v", rows)
	}
	if _, out, _ := o.run("", "usage", "top"); out != "nothing was called\n" {
		t.Errorf("the top applications are %s", out)
	}
}

func TestUsageSaysWhatToAskInPlaceOfAWrongQuestion(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.wantFailure(2, "--app CLIENT_ID", "usage", "--by", "tool")
	o.wantFailure(2, "product, member, tool, user or agent", "usage", "--app", id, "--by", "ip")
	o.wantFailure(2, "32 days by hour", "usage", "--from", "2026-01-01", "--to", "2026-03-01")
	o.wantFailure(2, "it is a number from 1 to 32", "usage", "top", "--days", "33")
	o.wantFailure(2, "exclude each other", "usage", "top", "--apps", "--tools")
	o.wantFailure(2, "exclude each other", "usage", "--csv", "--json")
	o.wantFailure(2, "is no time", "usage", "--from", "yesterday")
	o.wantFailure(1, "there is no application", "usage", "--app", "none")
	o.wantFailure(1, "there is no application", "usage", "forecast", "none")
}
