package gateway_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
)

// Decision 27: who goes away when the service has the call pays for it.
func TestCallThatReachedTheServiceIsChargedAlsoIfItsClientLeft(t *testing.T) {
	h := newFixture(t)
	began, ended := make(chan struct{}), make(chan struct{})
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
	})
	server := h.open()
	for range 3 {
		ctx, leave := context.WithCancel(t.Context())
		go func() { <-began; leave() }()
		r := must(http.NewRequestWithContext(ctx, "GET", server.URL+"/svc/x", nil))(t)
		r.Header.Set("Authorization", "Bearer "+user)
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
			t.Error("the client has not gone away")
		}
		<-ended
	}
	server.Close() // waits for what is served
	if got := h.used(user, "svc"); got != 3 {
		t.Errorf("charged %d of 3 calls", got)
	}
}

// One that never reached it is not: nothing was done.
func TestCallThatNeverReachedTheServiceIsNotCharged(t *testing.T) {
	h := newFixture(t)
	full := must(net.Listen("tcp", "127.0.0.1:0"))(t) // where nobody accepts
	address := full.Addr().String()
	full.Close()
	user := behind(t, h, func(http.ResponseWriter, *http.Request) {},
		func(u *gateway.Upstream) { u.URL = "http://" + address })
	ctx, leave := context.WithTimeout(t.Context(), time.Minute)
	defer leave()
	h.want(h.send(h.request("GET", "/svc/x", user, nil).WithContext(ctx)), 502, "a call of a service that is away")
	leave()
	h.want(h.send(h.request("GET", "/svc/x", user, nil).WithContext(ctx)), 499, "a call of nobody")
	if got := h.used(user, "svc"); got != 0 {
		t.Errorf("charged %d calls", got)
	}
}
