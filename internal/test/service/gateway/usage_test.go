package gateway_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage/driver"
)

// Decision 28.
func TestUsageByDayAndHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at 2000-01-01T00:00:00Z
		h := newFixture(t, func(c *gateway.Config) {
			c.Plans = billing.Plans()
			c.Plans[0].Calls, c.Products = 3, nil
		})
		bearer := h.bearer(h.app)
		calls := func(n int, path string) {
			for range n {
				h.call("GET", path, bearer)
			}
		}
		calls(2, "/ai/200")
		time.Sleep(time.Hour)
		calls(3, "/ai/200")
		calls(1, "/ai/500")
		time.Sleep(30 * time.Hour) // the 2nd, 07:00
		calls(4, "/ai/200")
		h.call("GET", "/api/v1/verify?product=payment", bearer)

		for _, c := range []struct{ query, want string }{
			{"", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-03T00:00:00Z","granularity":"day","series":[` +
				`{"at":"2000-01-01T00:00:00Z","product":"ai","calls":6,"errors":1},{"at":"2000-01-02T00:00:00Z","product":"ai","calls":4,"errors":0},{"at":"2000-01-02T00:00:00Z","product":"payment","calls":1,"errors":0}],` +
				`"totals":{"ai":10,"identity":0,"mcp":0,"payment":1,"storage":0},"overage":5}`},
			{"?granularity=hour&from=2000-01-01T01:00:00Z&to=2000-01-02", `{"from":"2000-01-01T01:00:00Z","to":"2000-01-02T00:00:00Z","granularity":"hour","series":[` +
				`{"at":"2000-01-01T01:00:00Z","product":"ai","calls":4,"errors":1}],"totals":{"ai":4,"identity":0,"mcp":0,"payment":0,"storage":0},"overage":3}`},
			{"?granularity=hour&product=payment", `{"from":"2000-01-01T00:00:00Z","to":"2000-01-02T08:00:00Z","granularity":"hour","series":[` +
				`{"at":"2000-01-02T07:00:00Z","product":"payment","calls":1,"errors":0}],"totals":{"payment":1},"overage":5}`},
			{"?from=2000-01-02&to=2000-01-03", `{"from":"2000-01-02T00:00:00Z","to":"2000-01-03T00:00:00Z","granularity":"day","series":[` +
				`{"at":"2000-01-02T00:00:00Z","product":"ai","calls":4,"errors":0},{"at":"2000-01-02T00:00:00Z","product":"payment","calls":1,"errors":0}],` +
				`"totals":{"ai":4,"identity":0,"mcp":0,"payment":1,"storage":0},"overage":2}`},
			{"?from=1999-01-01&to=2000-01-01", `{"from":"1999-01-01T00:00:00Z","to":"2000-01-01T00:00:00Z","granularity":"day","series":[],` +
				`"totals":{"ai":0,"identity":0,"mcp":0,"payment":0,"storage":0},"overage":0}`},
		} {
			a := h.want(h.call("GET", "/api/v1/usage"+c.query, bearer), 200, c.query)
			if want := `{"code":1,"msg":"success","data":` + c.want + `}`; a.text != want {
				t.Errorf("usage%s\n got %s\nwant %s", c.query, a.text, want)
			}
		}
		a := h.want(h.call("GET", "/api/v1/usage?format=csv&granularity=hour", bearer), 200, "csv")
		if want := "at,product,calls,errors\n2000-01-01T00:00:00Z,ai,2,0\n2000-01-01T01:00:00Z,ai,4,1\n" +
			"2000-01-02T07:00:00Z,ai,4,0\n2000-01-02T07:00:00Z,payment,1,0\n"; a.text != want ||
			!strings.HasPrefix(a.header.Get("Content-Type"), "text/csv") {
			t.Errorf("csv is %q, %s", a.text, a.header.Get("Content-Type"))
		}
	})
}

func TestMonthlyQuotasOverageIsCountedFromTheMonthsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) {
			c.Plans = billing.Plans()
			c.Plans[1].Calls = 5
		})
		bearer := h.bearer(h.other)
		for range 40 { // one call a day, the 1st of January to the 9th of February
			h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
			time.Sleep(24 * time.Hour)
			if time.Until(time.Date(2000, 1, 7, 0, 0, 0, 0, time.UTC)) > 0 {
				continue
			}
			bearer = h.bearer(h.other)
		}
		for query, want := range map[string]int64{
			"?from=2000-01-01&to=2000-02-01": 26, "?from=2000-01-04&to=2000-01-08": 2, "?from=2000-01-31&to=2000-02-07": 1 + 1,
			"?from=2000-02-01&to=2000-02-06": 0,
		} {
			if a := h.call("GET", "/api/v1/usage"+query, bearer); a.number("data.overage") != want {
				t.Errorf("usage%s = %s, want an overage of %d", query, a.text, want)
			}
		}
	})
}

func TestQueryThatIsWrongIsAnsweredWithWhatToWrite(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for query, want := range map[string]string{
		"from=yesterday": "dates such as", "to=2026-13-01": "dates such as", "from=0001-01-01": "dates such as",
		"from=9999-01-01":               "dates such as",
		"from=2026-01-02&to=2026-01-02": "from is before to", "from=2026-01-02&to=2026-01-01": "from is before to",
		"from=2190-01-01":               "from is before to",
		"from=2020-01-01&to=2026-01-01": "400 days", "granularity=hour&from=2026-01-01&to=2026-03-01": "32 days",
		"granularity=minute": "day or hour", "format=xml": "json or csv", "product=nothing": "not a product",
		"from=2026-01-01&from=2026-01-02": "more than once",
	} {
		a := h.want(h.call("GET", "/api/v1/usage?"+query, bearer), 400, query)
		if !strings.Contains(a.text, want) || a.number("errcode") != 400 {
			t.Errorf("%s: %s, want %q", query, a.text, want)
		}
	}
}

func TestCallerNeitherSeesNorChangesTheUsageOfOthers(t *testing.T) {
	h := newFixture(t)
	mine, theirs := h.bearer(h.app), h.bearer(h.other)
	for range 3 {
		h.call("GET", "/ai/200", mine, "X-Keystile-Client", h.other.ID)
		h.call("GET", "/ai/200?client_id="+h.other.ID, mine)
	}
	for _, path := range []string{"/api/v1/quota", "/api/v1/usage", "/api/v1/quota?client_id=" + h.app.ID,
		"/api/v1/usage?client_id=" + h.app.ID} {
		a := h.want(h.call("GET", path, theirs), 200, path)
		if a.number("data.usage_this_month.ai") > 0 || a.number("data.totals.ai") > 0 {
			t.Errorf("%s shows %s", path, a.text)
		}
	}
	if got := h.used(mine, gateway.ProductAI); got != 6 {
		t.Errorf("charged %d, want 6", got)
	}
	if rows := must(h.store.Usage(t.Context(), driver.UsageQuery{AppID: h.other.ID,
		To: time.Now().Add(time.Hour)}))(t); len(rows) != 0 {
		t.Errorf("the other application is charged %v", rows)
	}
}
