package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
	"github.com/keystile/keystile/storage"
)

// patience bounds the time of an answer.
const patience = 15 * time.Second

// comesBack bounds the tries of a client that is told that there is a crowd.
const comesBack = 30

// wire leads to one life of the servers. Each request goes to the next one of them.
type wire struct {
	journal *journal
	targets []target
	turn    atomic.Uint32
	client  *http.Client
	doomed  atomic.Bool   // the kill is on its way: from here on connections may fail
	cut     atomic.Int32  // requests that the kill has cut off
	away    atomic.Int32  // requests that were answered 503, because a database was killed
	shared  bool          // there is a database, which may be killed
	pause   time.Duration // before somebody who stood in a crowd asks again
}

// target is one server, and the two ways into it.
type target struct {
	base  string
	admin *http.Client
}

func newWire(j *journal, address, data string) *wire {
	w := &wire{
		journal: j, pause: time.Second,
		client: &http.Client{
			Timeout:       patience,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 32},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	w.also(address, data)
	return w
}

// also lets requests go to one more server.
func (w *wire) also(address, data string) {
	w.targets = append(w.targets, target{"http://" + address, serving.AdminClient(data, patience)})
}

// next is the server that the next request goes to.
func (w *wire) next() target { return w.targets[int(w.turn.Add(1))%len(w.targets)] }

func (w *wire) close() {
	w.client.CloseIdleConnections()
	for _, d := range w.targets {
		d.admin.CloseIdleConnections()
	}
}

// answer holds a response of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string {
	body := bytes.TrimSpace(a.body)
	return fmt.Sprintf("%d %s", a.status, body[:min(len(body), 600)])
}

// id is the request id that the trail has it under.
func (a answer) id() string { return a.header.Get("X-Request-Id") }

// cookie is a cookie that the answer sets, with its name; "" if it sets none.
func (a answer) cookie(name string) string {
	resp := http.Response{Header: a.header}
	for _, c := range resp.Cookies() {
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

// crowded reports whether more passwords waited to be hashed than a loaded machine can hash in a
// few seconds. Nothing was checked, and the client is to come back.
func (a answer) crowded() bool {
	return a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" &&
		bytes.Contains(a.body, []byte("Too many people are signing in"))
}

// complaints returns a server's log without the lines that tell of a crowd, and of tools that campaigns open to all.
func complaints(said string) string {
	lines := slices.DeleteFunc(strings.SplitAfter(said, "\n"), func(line string) bool {
		return strings.Contains(line, `msg="more is asked for than can be done"`) || strings.Contains(line, `msg="everybody may use the tools of`)
	})
	return strings.Join(lines, "")
}

// errGone: there was no answer.
var errGone = errors.New("the server is gone")

// post sends a form; headers are name, value, name, value.
func (w *wire) post(path string, form url.Values, headers ...string) (answer, error) {
	return w.send(http.MethodPost, path, form.Encode(), append(headers, "Content-Type",
		"application/x-www-form-urlencoded")...)
}

func (w *wire) get(path string, headers ...string) (answer, error) {
	return w.send(http.MethodGet, path, "", headers...)
}

// send sends a request, and again while the server says that it was not looked at.
func (w *wire) send(method, path, body string, headers ...string) (a answer, err error) {
	for range comesBack {
		r, err := http.NewRequest(method, w.next().base+path, strings.NewReader(body))
		if err != nil {
			return answer{}, err
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if a, err = w.do(w.client, r); err != nil || !a.crowded() {
			return a, err
		}
		time.Sleep(w.pause)
	}
	w.journal.violated(nil, "%s %s is still answered %v", method, path, a)
	return a, nil
}

// do sends a request once. A failure that no kill explains is a violation, and so is every 5xx
// but the one that crowded knows, and 503 while a database is away: that is no answer either.
func (w *wire) do(client *http.Client, r *http.Request) (answer, error) {
	r.GetBody = nil // net/http must not send anything twice
	n := w.journal.requests.Add(1)
	// no address is to be held up for what the others did
	r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255))
	resp, err := client.Do(r)
	var a answer
	if err == nil {
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	switch {
	case err != nil && !w.doomed.Load():
		w.journal.violated(nil, "%s %s fails while nobody kills the server: %v", r.Method, r.URL.Path, err)
		return a, errGone
	case err != nil:
		if !errors.Is(err, syscall.ECONNREFUSED) {
			w.cut.Add(1)
		}
		return a, errGone
	case a.status == http.StatusServiceUnavailable && w.shared && w.doomed.Load():
		w.away.Add(1)
		return a, errGone
	case a.status >= 500 && !a.crowded():
		w.journal.violated(nil, "%s %s is answered %v", r.Method, r.URL.Path, a)
	}
	return a, nil
}

// run has the server run an admin command; flags are name, value, name, value.
func (w *wire) run(name string, flags []string, words ...string) (serving.Result, error) {
	r, err := serving.Command(name, flags, words...)
	if err != nil {
		return serving.Result{}, err
	}
	a, err := w.do(w.next().admin, r)
	if err != nil {
		return serving.Result{}, err
	}
	var out serving.Result
	err = json.Unmarshal(a.body, &out)
	if w.shared && w.doomed.Load() && strings.Contains(out.Error, storage.ErrUnavailable.Error()) {
		w.away.Add(1)
		return out, errGone
	}
	return out, err
}

// made runs an admin command that prints one object, and reads that. A refusal is a
// violation.
func (w *wire) made(to any, name string, flags []string, words ...string) error {
	out, err := w.run(name, flags, words...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out.Output), to); out.Error != "" || err != nil {
		w.journal.violated(nil, "%s %v is answered %+v", name, words, out)
		return errGone
	}
	return nil
}
