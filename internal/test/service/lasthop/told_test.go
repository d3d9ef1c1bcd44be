package lasthop

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// By default it learns nothing, but behind the proxy, where services have always been told by headers.
func TestUpstreamLearnsWhatWasChosen(t *testing.T) {
	headers := []string{"X-Keystile-Client", "X-Keystile-Scope", "X-Keystile-Tier", "X-Keystile-User"}
	for kind, want := range map[string][]string{
		"": nil, lasthop.None: nil, lasthop.Headers: headers, lasthop.Signed: {lasthop.Header},
		lasthop.Bearer: append([]string{"Authorization"}, headers...),
	} {
		h := start(t, lasthop.Identity{Kind: kind})
		bearer := h.bearer("u1")
		for _, way := range ways {
			want := want
			switch {
			case kind == lasthop.Bearer && way != "ai":
				continue // no capability has it
			case kind == "" && way == "ai":
				want = headers
			}
			got, _ := h.call(way, bearer, nil)
			var told []string
			for name := range got {
				if strings.Contains(strings.ToLower(name), "keystile") || name == "Authorization" {
					told = append(told, name)
				}
			}
			if slices.Sort(told); !slices.Equal(told, want) {
				t.Errorf("identity %q: by %s the upstream is told %q, want %q", kind, way, told, want)
			}
			if a := got.Get("Authorization"); a != "" && a != "Bearer "+bearer {
				t.Errorf("identity %q: by %s the upstream gets %q", kind, way, a)
			}
			if c := got.Get("X-Keystile-Client"); c != "" && (c != h.app.ID || got.Get("X-Keystile-User") != "u1" ||
				got.Get("X-Keystile-Tier") != storage.TierFree || got.Get("X-Keystile-Scope") != "app tools openid") {
				t.Errorf("identity %q: by %s the headers are %v", kind, way, got)
			}
		}
	}
}

// claims reads a statement without verifying it.
func claims(t testing.TB, statement string) (head, body map[string]any) {
	t.Helper()
	for i, to := range []*map[string]any{&head, &body} {
		raw, err := base64.RawURLEncoding.DecodeString(strings.Split(statement, ".")[i])
		if err == nil {
			err = json.Unmarshal(raw, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return head, body
}

func TestStatementSaysWhoCallsAndIsVerifiedByThePublishedKeys(t *testing.T) {
	for _, alg := range []string{token.ES256, token.EdDSA} { // of access tokens
		h := start(t, lasthop.Identity{Kind: lasthop.Signed}, func(c *keystile.Config) { c.Tokens.SigningAlg = alg })
		callers := h.callers()
		for _, way := range ways {
			for _, who := range []struct {
				bearer, sub string
				actors      []string
			}{
				{h.bearer("u1", "agent", "ks-other", "u7"), "u1", []string{"agent", "ks-other", "u7"}},
				{h.bearer(h.app.ID), h.app.ID, nil},
			} {
				got, answer := h.call(way, who.bearer, nil)
				statement := got.Get(lasthop.Header)
				head, body := claims(t, statement)
				if head["alg"] != "ES256" || head["typ"] != "keystile-caller+jwt" || head["kid"] == "" || len(head) != 3 {
					t.Errorf("%s: the header is %v", way, head)
				}
				iat, _ := body["iat"].(float64)
				want := map[string]any{"iss": base, "aud": h.up.URL, "sub": who.sub, "client_id": h.app.ID, "tool": way,
					"rid": answer.Header().Get("X-Request-Id"), "jti": body["jti"], "iat": iat, "exp": iat + 60}
				var act any
				for _, a := range slices.Backward(who.actors) {
					of := map[string]any{"sub": a}
					if act != nil {
						of["act"] = act
					}
					act = of
				}
				if act != nil {
					want["act"] = act
				}
				is, _ := json.Marshal(body)
				wanted, _ := json.Marshal(want)
				if string(is) != string(wanted) || body["jti"] == "" || time.Since(time.Unix(int64(iat), 0)) > 5*time.Second {
					t.Errorf("%s: the statement is %s, want %s", way, is, wanted)
				}
				told, err := callers.Verify(t.Context(), statement)
				if err != nil || told.Tool != way || told.AppID != h.app.ID || !slices.Equal(told.Actors, who.actors) ||
					told.RequestID != want["rid"] || (told.UserID == "") != (who.sub == h.app.ID) {
					t.Errorf("%s: verified it says %+v, %v", way, told, err)
				}
				again, _ := h.call(way, who.bearer, nil)
				if _, next := claims(t, again.Get(lasthop.Header)); next["jti"] == body["jti"] || next["rid"] == body["rid"] {
					t.Errorf("%s: two calls have one jti or rid: %v, %v", way, body, next)
				}
			}
		}
	}
}

func TestPairwiseSubjectIsTheUsersOpenID(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed, Subject: lasthop.OpenID})
	if _, err := h.Store.SaveUser(t.Context(), storage.User{Sub: "u1", Username: "ada"}); err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		for range 2 {
			got, _ := h.call(way, h.bearer("u1"), nil)
			_, body := claims(t, got.Get(lasthop.Header))
			known, err := h.Store.OpenID(t.Context(), h.app.ID, "u1")
			if err != nil || body["sub"] != known.OpenID || body["client_id"] != h.app.ID {
				t.Errorf("%s: the statement is %v, the openid %v, %v", way, body, known, err)
			}
		}
		got, _ := h.call(way, h.bearer(h.app.ID), nil)
		if _, body := claims(t, got.Get(lasthop.Header)); body["sub"] != h.app.ID {
			t.Errorf("%s: of an application itself it is %v", way, body)
		}
	}
}

// One that is sent again says nothing of a request, and belongs to one token and one tool.
func TestStatementWithoutAJTIIsSentAgain(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed, JTI: lasthop.Off})
	seen := map[string]string{}
	for _, way := range ways {
		for _, bearer := range []string{h.bearer("u1"), h.bearer("u1"), h.bearer("u2")} {
			got, _ := h.call(way, bearer, nil)
			again, _ := h.call(way, bearer, nil)
			statement := got.Get(lasthop.Header)
			_, body := claims(t, statement)
			if _, there := body["jti"]; there || body["rid"] != nil || statement != again.Get(lasthop.Header) {
				t.Errorf("%s: the statement is %v, then %s", way, body, again.Get(lasthop.Header))
			}
			if other, twice := seen[statement]; twice && other != way+bearer && body["sub"] != "u1" {
				t.Errorf("%s: the statement of another call is sent", way)
			}
			seen[statement] = way + bearer
			if told, err := h.callers().Verify(t.Context(), statement); err != nil || told.RequestID != "" {
				t.Errorf("%s: verified it says %+v, %v", way, told, err)
			}
		}
	}
}

// A session of an upstream is of all callers together, so what begins it tells of none.
func TestMCPUpstreamIsToldByCallsAlone(t *testing.T) {
	for _, kind := range []string{lasthop.Signed, lasthop.Headers} {
		h := start(t, lasthop.Identity{Kind: kind})
		h.call("agents__one", h.bearer("u1"), nil)
		h.up.mu.Lock()
		defer h.up.mu.Unlock()
		if len(h.up.others) < 3 {
			t.Errorf("the upstream was sent %d messages beside calls", len(h.up.others))
		}
		for _, sent := range h.up.others {
			for name := range sent {
				if strings.Contains(strings.ToLower(name), "keystile") {
					t.Errorf("identity %s: %s is sent with what is no call", kind, name)
				}
			}
		}
	}
}

// Without its signature a statement is worth nothing, and an answer that repeats it does not show that.
func TestToolsAnswerDoesNotShowTheStatement(t *testing.T) {
	h := start(t, lasthop.Identity{Kind: lasthop.Signed})
	for _, way := range ways[1:] {
		got, answer := h.call(way, h.bearer("u1"), nil)
		parts := strings.Split(got.Get(lasthop.Header), ".")
		if text := answer.Body.String(); strings.Contains(text, parts[2]) || !strings.Contains(text, "[secret]") {
			t.Errorf("%s: the answer is %s", way, text)
		}
	}
}

// A redirect would have Keystile speak for its callers elsewhere: nothing is sent to where an upstream redirects to.
func TestStatementFollowsNoRedirect(t *testing.T) {
	h, elsewhere := start(t, lasthop.Identity{Kind: lasthop.Signed}), newUpstream(t)
	h.up.forward = elsewhere.URL
	for _, way := range ways {
		w := h.send(way, h.bearer("u1"))
		if sent := elsewhere.calls(); len(sent) > 0 {
			t.Errorf("%s: %v is sent to where the upstream redirects", way, sent)
		}
		for name, values := range w.Header() {
			if strings.Contains(strings.Join(values, ""), ".eyJ") || strings.EqualFold(name, lasthop.Header) {
				t.Errorf("%s: the caller is answered %s: %v", way, name, values)
			}
		}
	}
	if len(h.up.calls()) < len(ways) {
		t.Errorf("the upstream was called %d times", len(h.up.calls()))
	}
	for _, sent := range h.up.calls() {
		if sent.Get(lasthop.Header) == "" {
			t.Errorf("the upstream itself is told nothing: %v", http.Header(sent))
		}
	}
}
