package oauth_test

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
)

// The floors stand beside what they bound, so that one run gives the ratios. The cost of the
// transport is in neither; internal/test/campaigns/bench measures with it.

func BenchmarkMachineToken(b *testing.B) {
	h := newBenchFixture(b)
	body := h.tokenForm("grant_type", "client_credentials").Encode()
	h.measure(b, "floor: form and JSON", http.HandlerFunc(floorForm), newCall("POST", "/oauth/token", body))
	h.measure(b, "client_credentials", h.server, newCall("POST", "/oauth/token", body))
}

func BenchmarkAuthorize(b *testing.B) {
	h := newBenchFixture(b)
	c := newCall("GET", "/oauth/authorize?"+h.codeQuery().Encode(), "")
	c.want = http.StatusFound
	h.measure(b, "authorize", h.server, c)
}

func BenchmarkExchange(b *testing.B) {
	h := newBenchFixture(b)
	c := newCall("POST", "/oauth/token", "")
	b.ReportAllocs()
	var codes []string
	for b.Loop() {
		if len(codes) == 0 {
			b.StopTimer()
			codes = h.codes(500)
			b.StartTimer()
		}
		c.body = h.exchangeForm(codes[0])
		codes = codes[1:]
		c.do(b, h.server, http.StatusOK)
	}
}

func BenchmarkRefresh(b *testing.B) {
	h := newBenchFixture(b)
	next := h.refreshToken()
	c := newCall("POST", "/oauth/token", "")
	begin := h.tokenForm("grant_type", "refresh_token").Encode() + "&refresh_token="
	b.ReportAllocs()
	for b.Loop() {
		c.body = begin + next
		c.do(b, h.server, http.StatusOK)
		next = c.member(b, "refresh_token")
	}
}

func BenchmarkUserInfo(b *testing.B) {
	h := newBenchFixture(b)
	c := newCall("GET", "/oauth/userinfo", "")
	bearers := h.bearers(b, 20_000)
	c.header["Authorization"] = bearers[:1]
	c.do(b, h.server, http.StatusOK)
	floor := floorJSON(bytes.Clone(c.sink.body.Bytes()))
	i := 0
	through := func(handler http.Handler) func(*testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				i = (i + 7919) % len(bearers)
				c.header["Authorization"] = bearers[i : i+1]
				c.do(b, handler, http.StatusOK)
			}
		}
	}
	b.Run("floor: JSON", through(floor))
	b.Run("20,000 tokens", through(h.server))
}

func BenchmarkDocuments(b *testing.B) {
	h := newBenchFixture(b)
	for _, path := range []string{"/.well-known/openid-configuration", "/oauth/jwks"} {
		c := newCall("GET", path, "")
		c.do(b, h.server, http.StatusOK)
		body, etag := bytes.Clone(c.sink.body.Bytes()), c.sink.header.Get("Etag")
		h.measure(b, fmt.Sprintf("floor: %d static bytes", len(body)), static(body), c)
		h.measure(b, path, h.server, c)
		same := newCall("GET", path, "")
		same.header.Set("If-None-Match", etag)
		same.want = http.StatusNotModified
		h.measure(b, path+" 304", h.server, same)
	}
}

// A token without the scope groups has to cost what it did before there were groups.
func BenchmarkGroups(b *testing.B) {
	for _, x := range []struct {
		scope string
		in    int // groups
	}{{"openid", 200}, {"openid groups", 10}, {"openid groups", 200}} {
		h := newBenchFixture(b)
		for i := range x.in {
			h.joins(fmt.Sprintf("team-%03d", i))
		}
		name := fmt.Sprintf("scope %s, %d groups", x.scope, x.in)
		granted := h.granted(x.scope)
		b.Run("refresh, "+name, func(b *testing.B) {
			next := granted.text("refresh_token")
			c := newCall("POST", "/oauth/token", "")
			begin := h.tokenForm("grant_type", "refresh_token").Encode() + "&refresh_token="
			b.ReportAllocs()
			for b.Loop() {
				c.body = begin + next
				c.do(b, h.server, http.StatusOK)
				next = c.member(b, "refresh_token")
			}
			granted = h.refresh(next).tokens(b)
		})
		c := newCall("GET", "/oauth/userinfo", "")
		c.header.Set("Authorization", "Bearer "+granted.text("access_token"))
		h.measure(b, "userinfo, "+name, h.server, c)
	}
}
