package command

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/toolplan"
)

// The applications of these tests that nobody registered.
const (
	documentID = "https://agent.example.com/oauth/client-metadata"
	dynamicID  = "ks-aaaaaaaaaaaaaaaaaaaa"
	remoteURI  = "https://agent.example.com/callback"
	schemeURI  = "agent.desktop://callback"
)

// withStrangers serves a data folder that knows applications that nobody registered, and some tools.
func withStrangers(t *testing.T) *service {
	t.Helper()
	data := t.TempDir()
	args := []string{"--limits-per-ip", "100000"}
	start(t, data, args...).stop()
	write(t, data)
	return start(t, data, args...)
}

// stored opens the store of a data folder that nobody serves; release closes it.
func stored(t *testing.T, data string) (s *storage.Store, release func()) {
	t.Helper()
	f, err := folder.Open(data)
	fatal(t, err)
	keys, _, err := f.MasterKeys("")
	fatal(t, err)
	file, err := bolt.Open(filepath.Join(data, "keystile.db"), bolt.Options{})
	fatal(t, err)
	s, err = storage.Open(t.Context(), file, keys...)
	fatal(t, err)
	return s, func() { fatal(t, file.Close()) }
}

func write(t *testing.T, data string) {
	t.Helper()
	s, release := stored(t, data)
	defer release()
	now := time.Now().UTC()
	for _, a := range []storage.App{
		{ID: documentID, Name: "Claude Code", Public: true, Client: &client.Description{Kind: client.Document, RedirectURIs: []string{remoteURI, "http://127.0.0.1/callback"}, Grants: []string{"authorization_code", "refresh_token"}, AuthMethod: client.AuthNone, FetchedAt: now, FreshUntil: now.Add(24 * time.Hour)}},
		{ID: dynamicID, Name: "Keystile \u202eteruces\u202c " + strings.Repeat("Security Team ", 12), Public: true, Client: &client.Description{Kind: client.Dynamic, RedirectURIs: []string{"http://127.0.0.1/callback", schemeURI}, Grants: []string{"authorization_code", "refresh_token"}, AuthMethod: client.AuthNone, ExpiresAt: now.Add(24 * time.Hour)}},
	} {
		_, err := s.SaveApp(t.Context(), a)
		fatal(t, err)
	}
	shop := []toolplan.Tool{described("get", "findOrders", "Find orders by customer, date or status"), described("get", "getOrder", "Show one order with its items"), described("post", "refundOrder", "Pay an order back to the customer"), described("delete", "cancelOrder", "Cancel an order that was not sent yet")}
	post := []toolplan.Tool{described("get", "searchLetters", "Search the letters that you may read"), described("post", "sendLetter", "Send a letter in your name")}
	_, err := s.SaveCapability(t.Context(), storage.Capability{Member: "shop", Label: "Web shop", Kind: storage.CapabilityREST, UpstreamURL: "https://shop.example", Publish: true, Owner: "u1"}, shop)
	fatal(t, err)
	_, err = s.SaveCapability(t.Context(), storage.Capability{Member: "post", Label: "Post office", Kind: storage.CapabilityREST, UpstreamURL: "https://post.example", Publish: true, Owner: "u1"}, post)
	fatal(t, err)
	_, err = s.SaveBundle(t.Context(), access.Bundle{Name: "support", Label: "For answering customers", Tools: []string{"shop__findOrders", "shop__getOrder", "post__sendLetter"}})
	fatal(t, err)
}

func described(method, name, text string) toolplan.Tool {
	return toolplan.Tool{Name: name, Method: method, Path: "/" + name, Description: text, InputSchema: json.RawMessage(`{"type":"object"}`), Call: &toolplan.Call{Template: "/" + name}}
}

// asks opens the authorize request of an application.
func (v *walkthrough) asks(id, redirect, scope string, more ...string) {
	v.t.Helper()
	v.at(authorizePath(id, redirect, scope, more...))
}

func authorizePath(id, redirect, scope string, more ...string) string {
	q := url.Values{"client_id": {id}, "redirect_uri": {redirect}, "scope": {scope}, "response_type": {"code"}, "state": {"s"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/oauth/authorize?" + q.Encode()
}

// strangers looks at the consent pages of applications that nobody registered here, on phones on a
// narrow one, and at the account page with them.
func (v *walkthrough) strangers() {
	v.t.Helper()
	own := *v
	v = &own
	v.s = withStrangers(v.t)
	if v.device.Phone {
		v.device.Width, v.device.Height = 360, 740
	}
	v.with(v.device)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>x</title><link rel="icon" href="data:,"><h1>%s</h1>`, html.EscapeString(r.URL.Query().Get("iss")))
	}))
	defer program.Close()
	localURI := program.URL + "/callback"
	v.asks(documentID, remoteURI, "openid tools")
	v.says("Sign in to %s", "agent.example.com")
	v.look("stranger-signin")
	v.password()
	v.says("Allow %s?", "agent.example.com")
	v.look("stranger-document")
	v.asks(documentID, localURI, "openid tools")
	v.look("stranger-local")
	v.Click("[name=tools][value=some]")
	v.Click(".picks details:nth-of-type(1) summary")
	v.Click(".picks details:nth-of-type(2) summary")
	v.look("stranger-choice")
	v.Follow("button[name=allow]")
	v.says("Allow %s?", "agent.example.com")
	v.look("stranger-nothing")
	v.Click("[name=tools][value=read]")
	v.Follow("button[name=allow]")
	if got := v.Text("h1"); got != v.s.base || !strings.HasPrefix(v.URL(), localURI+"?code=") {
		v.t.Errorf("the browser ends at %s, which says %q", v.URL(), got)
	}
	v.asks(dynamicID, schemeURI, "openid tools/read")
	v.says("Allow this application?")
	v.look("stranger-dynamic")
	v.at("/oauth/account")
	v.says("Your account")
	v.look("stranger-account")
}
