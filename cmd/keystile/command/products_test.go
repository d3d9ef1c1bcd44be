package command

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// upstreams are two services of products, one behind a prefix within the other's.
type upstreams struct {
	mu   sync.Mutex
	seen map[string][]string // by product, what each was asked
}

func (u *upstreams) serve(t *testing.T, product string) string {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.seen[product] = append(u.seen[product], r.RequestURI)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// take returns which product was asked for which path, "" for none.
func (u *upstreams) take(t *testing.T) (product, path string) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	for name, paths := range u.seen {
		if product != "" || len(paths) != 1 {
			t.Errorf("asked %v, want one", u.seen)
		}
		product, path = name, paths[0]
	}
	clear(u.seen)
	return product, path
}

// status sends a path as it is written, which no HTTP client does.
func (s *service) status(t *testing.T, path, bearer string) int {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+s.address+"\r\nAuthorization: Bearer "+
		""+bearer+"\r\nConnection: close\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// The product that a call is charged to is always the one that the service behind it reads: a path
// that may be read as another product's is no product's.
func TestCallIsChargedToTheProductThatGetsItHoweverItsPathIsWritten(t *testing.T) {
	t.Parallel()
	for _, strip := range []string{"true", "false"} {
		u := &upstreams{seen: map[string][]string{}}
		s := start(t, t.TempDir(), "--gateway-products", `[{"name":"cheap","upstream":"`+u.serve(t, "cheap")+`","prefix":"/svc","strip_prefix":`+strip+
			`},{"name":"dear","upstream":"`+u.serve(t, "dear")+`","prefix":"/svc/v2","strip_prefix":`+strip+`}]`)
		token := ownToken(t, s)
		charged := map[string]int64{}
		for path, want := range map[string]string{ // the product and what is left of the path, or nothing and the status
			"/svc/x": "cheap /x", "/svc/v2/x": "dear /x", "/svc/v2x": "cheap /v2x", "/svc/v2": "dear /", "/svc": "cheap /",
			"/svc/a%2Fb": "cheap /a%2Fb", "/svc/a//b": "cheap /a//b",
			"/svc/a;b/v2": "cheap /a;b/v2", "/svc/v2/a%252Fb": "dear /a%252Fb", "/svc/v2/v2": "dear /v2",
			"/svc/%2576": "cheap /%2576", "/svc/V2/x": "cheap /V2/x",

			"/svc%2fx": "400", "/svc%2Fv2/x": "400", "/%73vc/x": "400", "/svc/%76%32/x": "400", "/svc/v%32/x": "400",
			"/svc/v2%2fx": "400", "/svc/v2%252fx": "400", "/svc/%2576%2532/x": "400",
			"/svc//v2/x": "400", "//svc/x": "400", "/svc/v2;p=1/x": "400", "/svc;p=1/v2/x": "400", "/svc/;p/v2": "400", "/svc/;a%2fb/v2/x": "400", "/svc%3bp/x": "400", `/svc\v2/x`: "400",
			"/svc%5cv2/x": "400", "/svc/v2%5Cx": "400", "/svc/v2%255cx": "400", "/svc/%2e%2e/x": "400", "/svc/x/../v2/y": "400",
			"/svc/%252e%252e/x": "400", "/svc/v2/..;/x": "400", "/svc/v2%2f..%2fx": "400",
			"/svcx": "404", "/x/svc/v2": "404", "/SVC/x": "404",
		} {
			status := s.status(t, path, token)
			product, got := u.take(t)
			asked, rest, passes := strings.Cut(want, " ")
			if !passes {
				if product != "" || want != strconv.Itoa(status) {
					t.Errorf("strip %s: %s = %d, and %q was asked; want %s", strip, path, status, product, want)
				}
				continue
			}
			if strip == "false" {
				rest = path
			}
			if charged[asked]++; product != asked || got != rest || status != 200 {
				t.Errorf("strip %s: %s = %d, %q was asked for %s; want %s %s", strip, path, status, product, got, asked, rest)
			}
		}
		_, text := get(t, http.DefaultClient, s.base+"/api/v1/quota", "Authorization", "Bearer "+token)
		var quota struct {
			Data struct {
				Month map[string]int64 `json:"usage_this_month"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(text), &quota); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(quota.Data.Month, func(_ string, calls int64) bool { return calls == 0 })
		if !maps.Equal(quota.Data.Month, charged) {
			t.Errorf("strip %s: charged are %v, want %v", strip, quota.Data.Month, charged)
		}
	}
}
