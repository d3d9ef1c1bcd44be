//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// serveFloor measures what net/http allows on this machine: handlers that do the transport's part
// of an answer and nothing else. With an address it is a reverse proxy to it that checks
// nothing.
func serveFloor(proxy string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listening + l.Addr().String())
	ballast := make([]byte, ballastSize)
	defer runtime.KeepAlive(ballast)
	if proxy != "" {
		return http.Serve(l, newProxy(proxy))
	}
	return http.Serve(l, newFloor())
}

const listening = "floor at "

// ballastSize is that of the ballast which lets the service collect garbage less often (cmd/keystile/command). Floors
// and peers in Go have one as well.
const ballastSize = 24 << 20

func newFloor() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /form", floorForm)
	mux.HandleFunc("GET /json", floorJSON)
	mux.HandleFunc("GET /static/{size}", floorStatic())
	return mux
}

// newProxy is tuned as far as httputil's goes: many connections, and buffers used again.
func newProxy(address string) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost, transport.DisableCompression = 1024, 1024, true
	to := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{
		Rewrite:    func(p *httputil.ProxyRequest) { p.SetURL(to); p.SetXForwarded() },
		Transport:  transport,
		BufferPool: new(buffers),
	}
}

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, 32<<10)
}

func (b *buffers) Put(p []byte) { b.pool.Put(&p) }

// floorForm reads a form and answers JSON of the size of a token answer.
func floorForm(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.PostForm.Get("client_secret") == "" {
		http.Error(w, "no form", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{
		"code": 0, "msg": "success", "access_token": floorToken, "token_type": "Bearer", "expires_in": 604800, "scope": "app",
	})
}

var floorToken = strings.Repeat("x", 600)

// floorJSON answers with as many claims as userinfo has.
func floorJSON(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(floorClaims{
		Sub: "uabcdefghijklmnopqrstuvwxyz", UserID: 1, Name: "Administrator", Nickname: "Admin", Username: "admin",
		LoginType: "self", UpdatedAt: 1700000000, Issuer: "http://127.0.0.1:9",
	})
}

type floorClaims struct {
	Sub           string `json:"sub"`
	UserID        int64  `json:"user_id"`
	Name          string `json:"name"`
	Nickname      string `json:"nickname"`
	Username      string `json:"preferred_username"`
	Picture       string `json:"picture"`
	Gender        string `json:"gender"`
	Location      string `json:"location"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	LoginType     string `json:"login_type"`
	UpdatedAt     int64  `json:"updated_at"`
	Issuer        string `json:"iss"`
}

// floorStatic answers with bytes that are there already.
func floorStatic() http.HandlerFunc {
	body := []byte(strings.Repeat("x", 64<<10))
	return func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.PathValue("size"))
		if err != nil || size > len(body) {
			http.Error(w, "no such size", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(body[:size])
	}
}
