package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/balancer"
	"github.com/keystile/keystile/internal/test/serving"
)

// patience bounds the time of an answer.
const patience = 15 * time.Second

// balanced is a way to any node, through the balancer. Other ways are the numbers of nodes.
const balanced = everywhere

// answer is a response, or that there was none.
type answer struct {
	sent, done time.Time
	way        int // that the request went
	node       int // that has answered; everywhere: nobody knows
	status     int
	header     http.Header
	body       []byte
	err        error
	unknown    bool // there was no answer, or 503: what was asked for may have happened
}

func (a answer) String() string {
	if a.err != nil {
		return fmt.Sprintf("nothing: %v", a.err)
	}
	body := bytes.TrimSpace(a.body)
	return fmt.Sprintf("%d %s (node %d, request %s, %.0f ms)", a.status, body[:min(len(body), 400)], a.node, a.id(),
		float64(a.done.Sub(a.sent).Microseconds())/1000)
}

// id is the request id that the trail has it under.
func (a answer) id() string { return a.header.Get("X-Request-Id") }

// cookie is a cookie that the answer sets, with its name; "" if it sets none.
func (a answer) cookie(name string) string {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == name && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// reply holds the fields read from answers of the OAuth endpoints.
type reply struct {
	Code    int    `json:"code"`
	Error   string `json:"error"`
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (a answer) reply() (r reply) {
	json.Unmarshal(a.body, &r) // a body that is no JSON says nothing, and no check takes that for an answer
	return r
}

// crowded reports whether more passwords waited to be hashed than a loaded machine can hash in a few
// seconds: nothing was looked at.
func (a answer) crowded() bool {
	return a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" &&
		bytes.Contains(a.body, []byte("Too many people are signing in"))
}

var web = &http.Client{
	Timeout:       patience,
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (m *model) get(way int, path string, headers ...string) answer {
	return m.send(way, http.MethodGet, path, "", headers...)
}

// post sends a form; headers are name, value, name, value.
func (m *model) post(way int, path string, form url.Values, headers ...string) answer {
	return m.send(way, http.MethodPost, path, form.Encode(), append(headers, "Content-Type",
		"application/x-www-form-urlencoded")...)
}

// send sends a request once, and judges what any answer has to be.
func (m *model) send(way int, method, path, body string, headers ...string) answer {
	at := m.site.address
	if way != balanced {
		at = m.site.nodes[way].front.Address()
	}
	r, err := http.NewRequest(method, "http://"+at+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err, unknown: true}
	}
	r.GetBody = nil // net/http must not send anything twice
	n := m.requests.Add(1)
	// no address is to be held up for what the others did
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a := m.do(web, r, way)
	m.judge(method+" "+path, a)
	return a
}

// do sends a request, and reads the answer.
func (m *model) do(client *http.Client, r *http.Request, way int) answer {
	a := answer{sent: time.Now(), way: way, node: way}
	resp, err := client.Do(r)
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = io.ReadAll(resp.Body)
		resp.Body.Close()
		if by := resp.Header.Get(balancer.NodeHeader); by != "" {
			a.node, _ = strconv.Atoi(by)
		}
		if cut := resp.Header.Get(balancer.CutHeader); cut != "" {
			err = fmt.Errorf("the balancer: %s", cut)
		}
	}
	a.err, a.done = err, time.Now()
	a.unknown = err != nil || a.status == http.StatusServiceUnavailable
	return a
}

// judge notes what no answer may be: none, or a 5xx, unless something is wrong and it is an honest 503.
func (m *model) judge(what string, a answer) {
	what, _, _ = strings.Cut(what, "?")
	switch {
	case a.err != nil:
		m.lost.Add(1)
		if !m.excused(a) {
			m.violated("%s gets no answer while nothing excuses that: %v", what, a)
		}
	case a.crowded():
		m.crowds.Add(1)
	case a.status == http.StatusServiceUnavailable && (a.header.Get("Retry-After") != "" || a.made()):
		m.away.Add(1)
		if !m.excused(a) {
			m.violated("%s is refused while nothing excuses that: %v", what, a)
		}
	case a.status >= 500:
		m.violated("%s is answered %v", what, a)
	}
}

// made reports whether a 503 says that the change is made, and is only not on the trail yet. It has no Retry-After on
// purpose: nothing has to be sent again.
func (a answer) made() bool { return strings.Contains(string(a.body), "the change is made") }

// run has a node run an admin command; flags are name, value, name, value.
func (m *model) run(node int, into any, name string, flags []string, words ...string) answer {
	r, err := serving.Command(name, flags, words...)
	if err != nil {
		return answer{err: err, unknown: true}
	}
	m.requests.Add(1)
	a := m.do(m.site.nodes[node].socket, r, node)
	var out serving.Result
	if a.err == nil {
		a.err = json.Unmarshal(a.body, &out)
	}
	a.body = []byte(out.Output)
	switch {
	case a.err == nil && out.Error == "" && into != nil:
		if err := json.Unmarshal(a.body, into); err != nil {
			m.violated("%s %v prints %s", name, words, a.body)
		}
	case a.err == nil && out.Error == "":
	default:
		if a.err == nil {
			a.err = fmt.Errorf("%s", out.Error)
		}
		a.unknown = true
		if !m.excused(a) {
			m.violated("%s %v fails while nothing excuses that: %v", name, words, a.err)
		}
	}
	return a
}
