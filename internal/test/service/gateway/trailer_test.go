package gateway_test

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
)

// forgedTrailers are headers that no service may receive as trailers, where nothing that
// cleans headers looks.
var forgedTrailers = []string{
	"X-Keystile-User", "X-Keystile-Client", "X-Keystile-Tier", "X_Keystile_User", "X-Forwarded-For", "X-Forwarded-Proto",
	"X-Real-Ip", "X-Request-Id",
	"Cookie", "Authorization", "X-Sum",
}

// withTrailers is a request in chunks that ends in trailers, announced or not.
func withTrailers(line, bearer, announce string) string {
	request := line + " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + bearer +
		"\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n"
	if announce != "" {
		request += "Trailer: " + announce + "\r\n"
	}
	return request + "\r\n4\r\nbody\r\n0\r\n" + strings.Join(forgedTrailers, ": forged\r\n") + ": forged\r\n\r\n"
}

// Decision 63.
func TestTrailersOfAClientNeverReachAService(t *testing.T) {
	for name, announce := range map[string]string{
		"announced": strings.Join(forgedTrailers, ", "), "announced late": "X-Other", "not announced": "",
	} {
		for place, put := range map[string]func(*fixture, http.HandlerFunc) string{
			"behind the proxy": func(h *fixture, s http.HandlerFunc) string { return behind(t, h, s) },
			"in the same program": func(h *fixture,
				s http.HandlerFunc) string {
				h.svc = h.gateway.Guard("svc", s)
				return h.userBearer()
			},
		} {
			t.Run(name+", "+place, func(t *testing.T) {
				h := newFixture(t)
				var body string
				var header, trailer http.Header
				user := put(h, func(_ http.ResponseWriter, r *http.Request) {
					text, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					body, header, trailer = string(text), r.Header.Clone(), r.Trailer.Clone()
				})
				_, in := raw(t, h.open().Listener.Addr().String(), withTrailers("POST /svc/x", user, announce))
				if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 200 || body != "body" {
					t.Fatalf("answered %d, the service read %q", resp.StatusCode, body)
				}
				if len(trailer) > 0 || header["Trailer"] != nil ||
					slices.Contains(slices.Concat(slices.Collect(maps.Values(header))...), "forged") {
					t.Errorf("the service got trailers %v and headers %v", trailer, header)
				}
			})
		}
	}
}

// A handshake is a GET, and a GET may have a body that ends in trailers too.
func TestTrailersOfAHandshakeNeverReachAService(t *testing.T) {
	h := newFixture(t)
	got := make(chan http.Header, 1)
	user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		got <- r.Trailer.Clone()
		w.WriteHeader(426)
	})
	request := withTrailers("GET /svc/chat", user, strings.Join(forgedTrailers, ", "))
	request = strings.Replace(request, "\r\n", "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n", 1)
	_, in := raw(t, h.open().Listener.Addr().String(), request)
	if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 426 {
		t.Errorf("answered %d", resp.StatusCode)
	}
	if trailer := <-got; len(trailer) > 0 {
		t.Errorf("the service got %v", trailer)
	}
}

// Trailers of services such as gRPC's, after the answer.
func TestTrailersOfAServiceReachTheClient(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "Grpc-Status")
		io.WriteString(w, "answer")
		w.Header().Set("Grpc-Status", "0")
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
	})
	resp := call(t, "POST", h.open().URL+"/svc/x", user, strings.NewReader("body"))
	if text, err := io.ReadAll(resp.Body); string(text) != "answer" || err != nil {
		t.Fatalf("%q, %v", text, err)
	}
	if resp.Trailer.Get("Grpc-Status") != "0" || resp.Trailer.Get("X-Late") != "late" || len(resp.Trailer) != 2 {
		t.Errorf("trailers: %v", resp.Trailer)
	}
}

// A service that cannot set a header cannot set it as a trailer either.
func TestTrailersOfAServiceCannotSetTheGatewaysHeaders(t *testing.T) {
	names := []string{"Set-Cookie", "X-Request-Id", "Access-Control-Allow-Origin", "X-Own"}
	for name, announced := range map[string]bool{"announced": true, "late": false} {
		for _, open := range []bool{true, false} {
			h := newFixture(t, func(g *gateway.Config) {
				if g.CORS.Open = []string{}; open {
					g.CORS.Open = []string{"/svc/"}
				}
			})
			user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
				prefix := http.TrailerPrefix
				if announced {
					prefix = ""
					w.Header().Set("Trailer", strings.Join(names, ", "))
				}
				io.WriteString(w, "answer")
				w.(http.Flusher).Flush()
				w.Header()[prefix+"Set-Cookie"] = []string{"open_sso_token=forged; Path=/", "own=1"}
				w.Header()[prefix+"X-Request-Id"] = []string{"theirs"}
				w.Header()[prefix+"Access-Control-Allow-Origin"] = []string{"https://a.example"}
				w.Header()[prefix+"X-Own"] = []string{"own"}
			})
			resp := call(t, "GET", h.open().URL+"/svc/x", user, nil)
			if text, err := io.ReadAll(resp.Body); string(text) != "answer" || err != nil {
				t.Fatalf("%q, %v", text, err)
			}
			want := http.Header{"Set-Cookie": {"own=1"}, "X-Own": {"own"}}
			if !open {
				want["Access-Control-Allow-Origin"] = []string{"https://a.example"}
			}
			if !maps.EqualFunc(resp.Trailer, want, slices.Equal) {
				t.Errorf("%s, open to all origins %t: trailers %v, want %v", name, open, resp.Trailer, want)
			}
		}
	}
}
