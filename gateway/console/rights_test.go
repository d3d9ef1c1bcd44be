package console_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/storage"
)

var writeRights = flag.Bool("write-rights", false, "write testdata/rights.txt anew: read every line of what changes")

const rightsFile = "testdata/rights.txt"

const rightsLegend = `# Who may do what in the console. A line is a page, an act of a page or an endpoint, and whose
# object it is asked for: their own, somebody else's, or - where there is none. A cell is the
# status, and behind it
#
#   e  what belongs to somebody else is shown    w  something was written
#   t  something is on the audit trail           f  a form to send is shown
#   s  it is the page to sign in
#
# nobody is not signed in; guest and newcomer have nothing, owner has things of their own without
# a role; newcomer and developer have the role developer. A cell with . was not asked for.
#
`

// request is a line of the table: a page, an act or an endpoint.
type request struct {
	method, path, act string
	query             string
}

func (r request) name() string {
	name := r.method + " " + r.path + r.query
	if r.act != "" {
		name += "#" + r.act
	}
	return name
}

// served lists every page, act and endpoint that a console serves.
func served(parts []ui.Part) (all []request) {
	for _, part := range parts {
		for _, p := range part.Pages {
			if p.Get != nil {
				all = append(all, request{method: "GET", path: p.Path})
			}
			for _, act := range slices.Sorted(maps.Keys(p.Acts)) {
				all = append(all, request{method: "POST", path: p.Path, act: act})
			}
		}
		for _, a := range part.APIs {
			methods := slices.AppendSeq(slices.Collect(maps.Keys(a.Methods)), maps.Keys(a.Raw))
			slices.Sort(methods)
			for _, m := range methods {
				all = append(all, request{method: m, path: a.Path})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return strings.Compare(a.path, b.path) })
	return all
}

// asked are the queries that pages and endpoints take beside none.
var asked = map[string][]string{
	"/console/clients/show": {"?id={document}"}, "/api/console/clients/show": {"?id={dynamic}"},
	"/console/quota": {"", "?app={client_id}"}, "/console/capabilities/new": {"", "?member={member}"},
	"/console/usage": {"", "?client_id={client_id}"}, "/api/console/usage": {"", "?client_id={client_id}"},
	"/api/console/usage/csv": {"", "?client_id={client_id}"},
	"/console/settlements":   {"", "?client_id={client_id}"}, "/api/console/settlements": {"", "?client_id={client_id}"},
	"/api/console/settlements/csv": {"", "?client_id={client_id}"},
	"/console/visible":             {"", "?user={sub}"}, "/api/console/visible": {"?user={sub}"},
	"/console/orders": {"", "?client_id={client_id}"}, "/api/console/orders": {"", "?client_id={client_id}"},
	"/console/apps": {"", "?owner={sub}"}, "/api/console/apps": {"", "?owner={sub}"},
	"/console/sessions": {"", "?user={sub}"}, "/api/console/sessions": {"", "?user={sub}"},
	"/console/grants": {"", "?user={sub}"}, "/api/console/grants": {"?user={sub}"},
	"/console/audit": {"", "?client_id={client_id}"}, "/api/console/audit": {"", "?client_id={client_id}"},
}

// bodies are those that do something for a user who may do it.
var bodies = map[string]string{
	"POST /console/apps/new#new":                            "name=More&domains=more.example.com",
	"POST /console/apps/{client_id}#set":                    "name=Other&domains=other.example.com",
	"POST /console/apps/{client_id}#flags":                  "disabled=1",
	"POST /console/apps/{client_id}#hold":                   "held=name",
	"POST /console/apps/{client_id}#brand":                  "brand_name=Brand",
	"POST /console/apps/{client_id}#give":                   "owner=" + newOwner,
	"POST /console/apps/{client_id}#secret":                 "overlap_seconds=60",
	"POST /console/apps/{client_id}#delete":                 "confirm={name}",
	"POST /console/apps/{client_id}#operate":                "held=name",
	"POST /console/apps/{client_id}/settings#set":           "name=Other&domains=other.example.com",
	"POST /console/apps/{client_id}/settings#operate":       "held=name",
	"POST /console/apps/{client_id}/settings#proves":        "exchange=on",
	"POST /console/apps/{client_id}#proves":                 "exchange=on",
	"POST /console/apps/{client_id}/brand#brand":            "brand_name=Brand",
	"POST /console/apps/{client_id}/grants#give":            "owner=" + newOwner,
	"POST /console/apps/{client_id}/danger#secret":          "overlap_seconds=60",
	"POST /console/apps/{client_id}/danger#delete":          "confirm={name}",
	"POST /console/apps/{client_id}#admit":                  "allow=role:developer",
	"POST /console/apps/{client_id}#learns":                 "group_filter=team-*",
	"POST /console/apps/{client_id}/grants#admit":           "allow=role:developer",
	"POST /console/apps/{client_id}/grants#learns":          "group_filter=team-*",
	"POST /console/clients/show#admit":                      "allow=role:developer",
	"POST /console/clients/show#learns":                     "group_filter=team-*",
	"POST /console/clients/show?id={document}#admit":        "allow=role:developer",
	"POST /console/clients/show?id={document}#learns":       "group_filter=team-*",
	"POST /console/clients/hosts#set":                       "host=other.example&policy=denied",
	"POST /console/clients/hosts#unsay":                     "host={host}",
	"POST /console/capabilities/new#preview":                capabilityForm,
	"POST /console/capabilities/new#register":               capabilityForm,
	"POST /console/capabilities/{member}/danger#delete":     "confirm={member}",
	"POST /console/capabilities/{member}/deliveries#resend": "id={delivery}",
	"POST /console/capabilities/{member}/edit#update":       "label=Changed",
	"POST /console/capabilities/{member}/pins#accept":       "accept=getPet&digest={digest}",
	"POST /console/capabilities/{member}/pins#all":          "digest={digest}",
	"POST /console/access/{member}#add":                     "subject=role:admin",
	"POST /console/access/{member}#remove":                  "id={rule}",
	"POST /console/bundles#make":                            "name=other&tools=y__getPet",
	"POST /console/bundles#remove":                          "name={bundle}",
	"POST /console/bundles#allow":                           "name={bundle}&subject=role:admin",
	"POST /console/bundles#disallow":                        "name={bundle}&id={bundlerule}",
	"POST /console/orders/{order_id}#reject":                "reason=no",
	"POST /console/tiers#set":                               "client_id={client_id}&tier=enterprise",
	"POST /console/sessions#end":                            "ids={sub}.{session}",
	"POST /console/grants#withdraw":                         "ids={sub}.{client_id}",
	"POST /console/users/new#create":                        "username=fresh&password=" + "correct+horse+battery",
	"POST /console/users/new#invite":                        "days=1",
	"POST /console/users/{sub}#role":                        "role=auditor",
	"POST /console/users/{sub}#nickname":                    "nickname=Other",
	"POST /console/users/{sub}#save":                        "role=auditor&nickname=Other",
	"POST /console/users/{sub}/danger#disabled":             "disabled=1",
	"POST /console/users/{sub}/danger#erase":                "confirm={sub}",
	"POST /console/users/{sub}#disabled":                    "disabled=1",
	"POST /console/users/{sub}#erase":                       "confirm={sub}",
	"POST /console/users/{sub}/sessions#end":                "ids={session}",
	"POST /console/users/{sub}/grants#withdraw":             "ids={client_id}",
	"POST /console/users/{sub}/keys#revoke":                 "ids={key}",
	"POST /console/users/{sub}#attribute":                   "attribute=dept&value=Ops",
	"POST /console/users/{sub}#unattribute":                 "attribute=dept",
	"POST /console/groups#make":                             "name=fresh",
	"POST /console/groups/{group}#add":                      "user={guest}",
	"POST /console/groups/{group}#remove":                   "ids={sub}",
	"POST /console/groups/{group}/settings#set":             "label=Other",
	"POST /console/groups/{group}/settings#manager":         "user={guest}",
	"POST /console/groups/{group}/settings#unmanage":        "sub={sub}",
	"POST /console/groups/{group}/danger#delete":            "confirm={group}",
	"POST /console/keys#rotate":                             "alg=ES256",
	"POST /console/keys#retire":                             "kid=old",
	"POST /console/settings#set":                            "name=" + storage.SettingForcePKCE + "&value=1",
	"POST /api/console/apps":                                `{"name":"More","domains":["more.example.com"]}`,
	"PATCH /api/console/apps/{client_id}":                   `{"name":"Other"}`,
	"POST /api/console/apps/{client_id}/secret":             `{"overlap_seconds":60}`,
	"POST /api/console/clients/set":                         `{"client_id":"{dynamic}","disabled":true}`,
	"POST /api/console/clients/refetch":                     `{"client_id":"{document}"}`,
	"POST /api/console/clients/forget":                      `{"client_id":"{dynamic}"}`,
	"POST /api/console/clients/hosts":                       `{"host":"other.example","policy":"denied"}`,
	"POST /api/console/access/{member}":                     `{"subject":"role:admin"}`,
	"POST /api/console/bundles":                             `{"name":"other","tools":["y__getPet"]}`,
	"POST /api/console/bundles/{name}/access":               `{"subject":"role:admin"}`,
	"POST /api/console/orders/{order_id}/reject":            `{"reason":"no"}`,
	"POST /api/console/tiers":                               `{"client_id":"{client_id}","tier":"enterprise"}`,
	"POST /api/console/users":                               `{"username":"fresh","password":"` + password + `"}`,
	"PATCH /api/console/users/{sub}":                        `{"role":"auditor"}`,
	"POST /api/console/groups":                              `{"name":"fresh"}`,
	"PATCH /api/console/groups/{group}":                     `{"label":"Other"}`,
	"POST /api/console/groups/{group}/members":              `{"user":"{guest}"}`,
	"POST /api/console/sessions/end":                        `{"ids":["{sub}.{session}"]}`,
	"POST /api/console/grants/withdraw":                     `{"ids":["{sub}.{client_id}"]}`,
	"POST /api/console/invitations":                         `{"days":1}`,
	"POST /api/console/keys/rotate":                         `{"alg":"ES256"}`,
	"POST /api/console/keys/retire":                         `{"kid":"old"}`,
	"PATCH /api/console/settings":                           `{"name":"` + storage.SettingForcePKCE + `","value":"1"}`,
}

// unrecorded are the acts that change nothing in the console.
var unrecorded = map[string]bool{
	"POST /console/capabilities/new#preview": true, "POST /console/capabilities/{member}#register": true,
	"POST /console/capabilities/{member}/tools/{tool}#call": true, "POST /api/console/tools/{member}/{tool}/call": true,
}

const (
	newOwner       = "{new_owner}"
	capabilityForm = "member=fresh{by}&upstream_url=https://up.example.com&document=" + `{"openapi":"3.0.3","paths":{"/p":{"get":{"operationId":"getPet"}}}}`
)

// sends makes the request that somebody would send about what belongs to a role, "" being another.
func (s *scene) sends(q request, by, of string) (w *httptest.ResponseRecorder, sent string) {
	path := s.fill(q.path+q.query, of, q.path)
	bare, _, _ := strings.Cut(path, "?")
	text := strings.NewReplacer(newOwner, s.own[""]["sub"], "{by}", by).Replace(bodies[q.name()])
	body := s.fill(text, of, q.path)
	if q.act != "" {
		body += "&do=" + q.act + "&form=" + formFor(s.who[by].session(), bare, time.Now())
	}
	r := httptest.NewRequest(q.method, base+path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/json")
	if q.act != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return s.browse(r, s.who[by].cookie), path + body
}

// TestRoleTriesEveryPageAndActOfEveryOther compares what comes of it with what a person has written
// down, and holds what must be true whatever is written there.
func TestRoleTriesEveryPageAndActOfEveryOther(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	want := rights(t)
	var out strings.Builder
	all := served(console.Parts(newScene(t).console))
	if len(all) < 120 {
		t.Fatalf("only %d pages, acts and endpoints are found: the test looks in the wrong place", len(all))
	}
	for _, q := range all {
		queries, did := asked[q.path], false
		if queries == nil || q.method != "GET" && q.path != "/console/clients/show" {
			queries = []string{""}
		}
		if registered := q.act == "disable" || q.act == "enable"; registered && q.path == "/console/clients/show" {
			queries = []string{"?id={dynamic}"}
		}
		for _, q.query = range queries {
			objects := []string{"-"}
			if personal(q) {
				objects = []string{"own", "other"}
			}
			for _, object := range objects {
				name := q.name() + " " + object
				cells := measureRights(t, q, object)
				fmt.Fprintf(&out, "%-70s %s\n", name, strings.Join(cells, " "))
				if !*writeRights && !slices.Equal(cells, want[name]) {
					t.Errorf("%s: %v, and written down is %v", name, cells, want[name])
				}
				did = did || slices.ContainsFunc(cells, func(cell string) bool { return strings.Contains(cell, "t") })
				delete(want, name)
			}
		}
		if q.method != "GET" && !did && !unrecorded[q.name()] {
			t.Errorf("%s does nothing for anybody: that others are refused says nothing", q.name())
		}
	}
	if *writeRights {
		text := rightsLegend + fmt.Sprintf("# %-68s %s\n", "request and object", strings.Join(roles, " ")) + out.String()
		if err := os.WriteFile(rightsFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name := range want {
		t.Errorf("%s is written down, and is not served", name)
	}
}

// personal tells whether it matters whose object a request is about.
func personal(q request) bool {
	text := q.path + q.query + bodies[q.name()]
	for _, word := range []string{"client_id", "order_id", "member", "group", "sub", "seq"} {
		if strings.Contains(text, "{"+word+"}") {
			return true
		}
	}
	return false
}

// measureRights asks as each role, in a console of its own.
func measureRights(t *testing.T, q request, object string) (cells []string) {
	s := newScene(t)
	s.handOver(q)
	for _, role := range roles {
		of := role
		if object == "other" || object == "-" {
			of = ""
		}
		if object == "own" && !has[role] {
			cells = append(cells, ".")
			continue
		}
		cell := s.outcome(s.sends(q, role, of))
		cells = append(cells, cell)
		refused, reads := cell >= "4" || role == "nobody", role == "admin" || role == "auditor"
		changed := strings.ContainsAny(cell, "wt")
		switch name := q.name() + " " + object + " as " + role; {
		case cell >= "5":
			t.Errorf("%s: %s", name, cell)
		case refused && (changed || strings.Contains(cell, "e")):
			t.Errorf("%s: %s is a refusal that does or shows something", name, cell)
		case role == "nobody" && cell != "401" && (cell != "200s" || !strings.HasPrefix(q.path, ui.Root)):
			t.Errorf("%s: %s, and is not asked to sign in", name, cell)
		case changed && q.method == "GET":
			t.Errorf("%s: %s, and reading changes nothing", name, cell)
		case role == "auditor" && (strings.ContainsAny(cell, "wf") || q.method != "GET" && cell != "403"):
			t.Errorf("%s: %s, and an auditor changes nothing and is shown no form", name, cell)
		case !reads && (strings.Contains(cell, "e") || object == "other" && changed):
			t.Errorf("%s: %s, of somebody else", name, cell)
		case !reads && role != "nobody" && object == "other" && q.method != "GET" && cell != "403" && cell != "404":
			t.Errorf("%s: %s, and it is not theirs", name, cell)
		case changed && !strings.Contains(cell, "t"):
			t.Errorf("%s: %s is not on the trail", name, cell)
		}
	}
	return cells
}

// rights reads what is written down.
func rights(t *testing.T) map[string][]string {
	text, err := os.ReadFile(rightsFile)
	if err != nil && !*writeRights {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 3 && f[0] != "#" {
			all[strings.Join(f[:3], " ")] = f[3:]
		}
	}
	return all
}
