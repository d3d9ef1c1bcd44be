package cluster

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/serving"
)

// visit is somebody's way through the balancer.
type visit struct {
	t      testing.TB
	http   *http.Client
	base   string
	first  serving.FirstRun
	cookie string
}

func (v *visit) do(method, path, body string, header ...string) (*http.Response, string) {
	v.t.Helper()
	resp := v.open(method, path, body, header...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(text)
}

func (v *visit) open(method, path, body string, header ...string) *http.Response {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Cookie", v.cookie)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := v.http.Do(r)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

func (v *visit) post(path string, pairs ...string) (*http.Response, string) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// signIn signs the administrator in.
func (v *visit) signIn() {
	v.t.Helper()
	resp, body := v.post("/oauth/signin", "username", v.first.Admin.Username, "password", v.first.Admin.Password)
	for _, c := range resp.Cookies() {
		if c.Name == "open_sso_token" || strings.HasSuffix(c.Name, "open_sso_token") {
			if !c.Secure {
				v.t.Errorf("the cookie of an https service is not Secure: %v", c)
			}
			v.cookie = c.Name + "=" + c.Value
			return
		}
	}
	v.t.Fatalf("the sign-in is answered %d %v %.300s", resp.StatusCode, resp.Header, body)
}

// grant goes from the sign-in to tokens.
func (v *visit) grant() (access, refresh string) {
	v.t.Helper()
	sum := sha256.Sum256([]byte(strings.Repeat("v", 43)))
	query := url.Values{"response_type": {"code"}, "client_id": {v.first.App.ID}, "redirect_uri": {serving.RedirectURI},
		"scope":          {"openid profile tools"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}, "state": {"s"}}
	resp, body := v.do(http.MethodGet, "/oauth/authorize?"+query.Encode(), "")
	to, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		v.t.Fatalf("authorize is answered %d %v %.300s", resp.StatusCode, resp.Header, body)
	}
	return v.token("grant_type", "authorization_code", "code", to.Query().Get("code"), "redirect_uri", serving.RedirectURI,
		"code_verifier", strings.Repeat("v", 43))
}

func (v *visit) token(pairs ...string) (access, refresh string) {
	v.t.Helper()
	resp, body := v.post("/oauth/token", append(pairs, "client_id", v.first.App.ID, "client_secret",
		v.first.App.Secret)...)
	var g serving.Reply
	if err := json.Unmarshal([]byte(body), &g); err != nil || g.Access == "" {
		v.t.Fatalf("token is answered %d %s", resp.StatusCode, body)
	}
	return g.Access, g.Refresh
}

// arrive starts two nodes with a balancer and returns a visitor.
func arrive(t *testing.T, start func(*testing.T, string, [2]string) *balancer) (*cluster, *balancer, *visit) {
	t.Helper()
	c := startNodes(t)
	b := start(t, c.front, [2]string{c.nodes[0].address, c.nodes[1].address})
	first, err := serving.ReadFirstRun(c.nodes[0].data)
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{t: t, http: b.client("127.0.0.1"), base: "https://" + c.front, first: first}
	eventually(t, "the balancer finds a node", func() bool {
		resp, _ := v.do(http.MethodGet, "/.well-known/openid-configuration", "")
		return resp.StatusCode == 200
	})
	return c, b, v
}

func TestSignInAndAStreamPassEachBalancer(t *testing.T) {
	withEach(t, func(t *testing.T, start func(*testing.T, string, [2]string) *balancer) {
		c, b, v := arrive(t, start)
		v.signIn()
		access, refresh := v.grant()
		if resp, body := v.do(http.MethodGet, "/oauth/userinfo", "", "Authorization",
			"Bearer "+access); resp.StatusCode != 200 {
			t.Errorf("userinfo is answered %d %s", resp.StatusCode, body)
		}
		v.token("grant_type", "refresh_token", "refresh_token", refresh)
		v.stream(access)
		if resp, _ := v.do(http.MethodGet, "/healthz/ready", ""); resp.StatusCode != 404 {
			t.Errorf("strangers ask whether nodes are ready: %d", resp.StatusCode)
		}
		// Without Expect the client may still be writing when the balancer has refused and hung up.
		if resp, _ := v.do(http.MethodPost, "/oauth/token", strings.Repeat("x", 2<<20), "Expect",
			"100-continue"); resp.StatusCode != 413 {
			t.Errorf("a body of 2 MiB is answered %d", resp.StatusCode)
		}
		forged := &visit{t: t, http: b.client("127.0.0.7"), base: v.base}
		forged.do(http.MethodGet, "/oauth/forged", "", "X-Forwarded-For", "198.51.100.66", "Forwarded", "for=198.51.100.66")
		for _, n := range c.nodes {
			n.stop()
		}
		log := c.nodes[0].server.Log.String() + c.nodes[1].server.Log.String()
		if !strings.Contains(log, "127.0.0.7") || strings.Contains(log, "198.51.100.66") {
			t.Errorf("whoever came from 127.0.0.7 and said to be 198.51.100.66 is in the logs as: %s", log)
		}
	})
}

// stream hears of a change of the tools as it happens, whichever node makes it.
func (v *visit) stream(access string) {
	v.t.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	resp := v.open(http.MethodPost, "/api/mcp", `{"jsonrpc":"2.0","id":"a-1","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta+`}}`,
		"Authorization", "Bearer "+access, "Content-Type", "application/json", "Accept",
		"application/json, text/event-stream",
		"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		v.t.Fatalf("the stream is answered %d %s", resp.StatusCode, text)
	}
	lines := bufio.NewScanner(resp.Body)
	wait := func(want string) {
		v.t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		v.t.Fatalf("the stream ends before %s: %v", want, lines.Err())
	}
	wait("acknowledged") // a balancer that keeps what it has until there is more would never let it out
	answer, body := v.do(http.MethodPost, "/api/console/capabilities/register",
		`{"member":"m","upstream_url":"https://api.example.com","openapi":{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}}}}}`, "Content-Type", "application/json")
	if answer.StatusCode != 200 {
		v.t.Fatalf("the registration is answered %d %s", answer.StatusCode, body)
	}
	wait("list_changed")
}

// rollingRuns is the variable of the environment that says how often both nodes are restarted; once without it.
const rollingRuns = "ROLLING_RUNS"

// Both nodes are restarted under 200 requests a second, and nobody notices.
func TestRollingRestartFailsNoRequest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	withEach(t, func(t *testing.T, start func(*testing.T, string, [2]string) *balancer) {
		c, b, v := arrive(t, start)
		v.signIn()
		access, _ := v.grant()
		// Its rate is not what is tried here.
		if out, err := keystile(t, "tier", "set", v.first.App.ID, "enterprise", "--data",
			c.nodes[0].data).CombinedOutput(); err != nil {
			t.Fatalf("tier set: %v: %s", err, out)
		}
		eventually(t, "both nodes know the tier", func() bool { return c.unlimited(access) })
		runs, err := strconv.Atoi(cmp.Or(os.Getenv(rollingRuns), "1"))
		if err != nil {
			t.Fatalf("%s: %v", rollingRuns, err)
		}
		load := startLoad(t, b, access)
		for i := range runs * len(c.nodes) {
			n := c.nodes[i%len(c.nodes)]
			n.stop()
			n.start()
			eventually(t, "the node is ready", func() bool { return ready(n.address) })
			before := load.answered.Load()
			// At 200 requests a second these are three seconds, in which nginx tries a node again that it has found
			// gone: it counts its fail_timeout of 2s in whole seconds.
			eventually(t, "the load goes on", func() bool { return load.answered.Load() > before+600 })
		}
		sent, took := load.stop()
		rate := float64(sent) / took.Seconds()
		t.Logf("%d restarts of both nodes: %d requests in %v, %.0f a second", runs, sent, took.Round(time.Millisecond), rate)
	})
}

// unlimited reports whether each node answers calls of an application of the highest tier.
func (c *cluster) unlimited(access string) bool {
	for _, n := range c.nodes {
		r, err := http.NewRequest(http.MethodGet, "http://"+n.address+"/api/v1/quota", nil)
		if err != nil {
			return false
		}
		r.Header.Set("Authorization", "Bearer "+access)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return false
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(text), "enterprise") {
			return false
		}
	}
	return true
}

func ready(address string) bool {
	resp, err := http.Get("http://" + address + "/healthz/ready")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == 200
}

// load is 200 requests a second of three kinds: a read, a call with a token, and a write that must not
// be sent twice.
type load struct {
	t        *testing.T
	answered atomic.Int64
	began    time.Time
	quit     chan struct{}
	done     sync.WaitGroup
}

func startLoad(t *testing.T, b *balancer, access string) *load {
	l := &load{t: t, began: time.Now(), quit: make(chan struct{})}
	client := b.client("127.0.0.1")
	kinds := []struct {
		method, path, body string
		want               int
	}{
		{http.MethodGet, "/.well-known/openid-configuration", "", 200},
		{http.MethodGet, "/oauth/userinfo", "", 200},
		{http.MethodPost, "/oauth/signin", "username=", 400},
	}
	const workers, each = 20, 100 * time.Millisecond
	for w := range workers {
		l.done.Go(func() {
			select { // one after the other
			case <-l.quit:
				return
			case <-time.After(time.Duration(w) * each / workers):
			}
			tick := time.NewTicker(each)
			defer tick.Stop()
			for i := w; ; i++ {
				select {
				case <-l.quit:
					return
				case <-tick.C:
				}
				k := kinds[i%len(kinds)]
				status, err := send(client, "https://"+b.front+k.path, k.method, k.body, access)
				l.answered.Add(1)
				if err != nil || status != k.want {
					t.Errorf("%s %s after %v: %d %v", k.method, k.path, time.Since(l.began).Round(time.Millisecond), status, err)
				}
			}
		})
	}
	t.Cleanup(func() { l.stop() })
	return l
}

func send(client *http.Client, url, method, body, access string) (int, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	} else {
		r.Header.Set("Authorization", "Bearer "+access)
	}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func (l *load) stop() (int64, time.Duration) {
	select {
	case <-l.quit:
	default:
		close(l.quit)
	}
	l.done.Wait()
	return l.answered.Load(), time.Since(l.began)
}

// A request that a node has read may have been carried out, whatever becomes of its answer.
func TestRequestThatANodeHasReadIsNotSentToAnother(t *testing.T) {
	withEach(t, func(t *testing.T, start func(*testing.T, string, [2]string) *balancer) {
		var posts, gets atomic.Int64
		var nodes [2]string
		for i := range nodes {
			nodes[i] = free(t)
			s := &http.Server{Addr: nodes[i], Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path == "/healthz/ready":
					return
				case r.Method == http.MethodPost:
					posts.Add(1)
				default:
					gets.Add(1)
					return
				}
				panic(http.ErrAbortHandler) // the connection ends without an answer
			})}
			go s.ListenAndServe()
			t.Cleanup(func() { s.Close() })
		}
		b := start(t, free(t), nodes)
		v := &visit{t: t, http: b.client("127.0.0.1"), base: "https://" + b.front}
		eventually(t, "the balancer finds a node", func() bool {
			resp, _ := v.do(http.MethodGet, "/x", "")
			return resp.StatusCode == 200 && gets.Load() > 0
		})
		v.http = b.client("127.0.0.1") // to later requests of a connection HAProxy answers by closing it
		resp, body := v.do(http.MethodPost, "/oauth/token", "grant_type=refresh_token")
		if n := posts.Load(); n != 1 || resp.StatusCode != 502 {
			t.Errorf("a POST was sent %d times, and is answered %d %s", n, resp.StatusCode, body)
		}
	})
}

func TestNodeNamesCannotBeTakenForOneAnother(t *testing.T) {
	withEach(t, func(t *testing.T, start func(*testing.T, string, [2]string) *balancer) {
		got := make(chan http.Header, 1)
		var nodes [2]string
		for i := range nodes {
			nodes[i] = free(t)
			s := &http.Server{Addr: nodes[i], Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/names" {
					got <- r.Header
				}
			})}
			go s.ListenAndServe()
			t.Cleanup(func() { s.Close() })
		}
		b := start(t, free(t), nodes)
		v := &visit{t: t, http: b.client("127.0.0.1"), base: "https://" + b.front}
		eventually(t, "the balancer finds a node", func() bool {
			resp, _ := v.do(http.MethodGet, "/x", "")
			return resp.StatusCode == 200
		})
		header := []string{"X-Own", "own"}
		for _, c := range "!#$%&'*+.^_`|~" {
			header = append(header, "X"+string(c)+"Keystile"+string(c)+"User", "forged", "X-Keystile"+string(c)+"User", "forged")
		}
		v.do(http.MethodGet, "/names", "", header...)
		names := <-got
		for name, values := range names {
			if values[0] == "forged" {
				t.Errorf("the node got %s", name)
			}
		}
		if names.Get("X-Own") != "own" {
			t.Errorf("the node got %v", names)
		}
	})
}

// One node that is gone without a word costs nobody an answer.
func TestNodeThatIsKilledIsPassedBy(t *testing.T) {
	withEach(t, func(t *testing.T, start func(*testing.T, string, [2]string) *balancer) {
		c, _, v := arrive(t, start)
		c.nodes[0].server.Kill()
		for i := range 20 {
			if resp, _ := v.do(http.MethodGet, "/.well-known/openid-configuration", ""); resp.StatusCode != 200 {
				t.Errorf("request %d after the end of a node is answered %d", i, resp.StatusCode)
			}
			if resp, _ := v.post("/oauth/signin", "username", ""); resp.StatusCode != 400 {
				t.Errorf("write %d after the end of a node is answered %d", i, resp.StatusCode)
			}
		}
	})
}

func TestNodesOfTheExampleAreSafeButForWhatThisMachineIs(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts nodes")
	}
	c := startNodes(t)
	n := c.nodes[0]
	args := []string{"storage", "check", "--data", n.data, "--json"}
	for i := 0; i < len(n.args); i += 2 {
		if name := n.args[i]; name == "--base-url" || name == "--storage-url" || name == "--trusted-proxies" {
			args = append(args, n.args[i], n.args[i+1])
		}
	}
	cmd := keystile(t, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var v struct {
		Unsafe, Unknown int
		Findings        []struct{ Name, State, Says string }
	}
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err != nil || v.Unsafe+v.Unknown > 0 || len(v.Findings) < 15 {
		t.Errorf("storage check: %v: %s", err, fmt.Sprint(v.Findings))
	}
}
