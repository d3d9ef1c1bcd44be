// Package filled writes into the data folder of a service what takes long to come about, or other people. Nobody may
// serve the folder meanwhile.
package filled

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/toolplan"
)

// The applications that nobody registered.
const (
	DocumentID = "https://agent.example.com/oauth/client-metadata"
	DynamicID  = "ks-aaaaaaaaaaaaaaaaaaaa"
	RemoteURI  = "https://agent.example.com/callback"
	SchemeURI  = "agent.desktop://callback"
)

// AuthorizePath returns the authorize request of an application; more are further parameters.
func AuthorizePath(id, redirect, scope string, more ...string) string {
	q := url.Values{"client_id": {id}, "redirect_uri": {redirect}, "scope": {scope}, "response_type": {"code"},
		"state":          {"s"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return "/oauth/authorize?" + q.Encode()
}

// Bookshop is a document with one tool of each sort.
const Bookshop = `{"openapi":"3.0.0","info":{"title":"Book shop","version":"1"},"paths":{
"/orders":{"get":{"operationId":"findOrders","summary":"Find orders by customer, date or status","parameters":[
 {"name":"customer","in":"query","description":"Their email address","schema":{"type":"string"}},
 {"name":"status","in":"query","schema":{"type":"string","enum":["open","sent","returned"]}},
 {"name":"limit","in":"query","schema":{"type":"integer"}}]},
"post":{"operationId":"placeOrder","summary":"Place an order","requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","required":["book"],"properties":{
 "book":{"type":"string","description":"Its ISBN"},"copies":{"type":"integer","default":1},"gift":{"type":"boolean"},
 "address":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"street":{"type":"string"}}},"notes":{"type":"array","items":{"type":"string"}}}}}}}}},
"/orders/{id}":{"get":{"operationId":"getOrder","summary":"Show one order with its items","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]},
"delete":{"operationId":"cancelOrder","summary":"Cancel an order that was not sent yet","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}]}},
"/stream":{"get":{"summary":"It has no name and answers with an event stream","responses":{"200":{"description":"Events","content":{"text/event-stream":{}}}}}}}}`

// Open opens the store of a data folder; release closes it.
func Open(t testing.TB, data string) (s *storage.Store, release func()) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(data, "master.key"))
	fatal(t, err)
	key, err := storage.ParseMasterKey(strings.TrimSpace(string(text)))
	fatal(t, err)
	file, err := bolt.Open(filepath.Join(data, "keystile.db"), bolt.Options{})
	fatal(t, err)
	s, err = storage.Open(t.Context(), file, key)
	fatal(t, err)
	return s, func() { fatal(t, file.Close()) }
}

// Strangers writes applications that nobody registered, and some tools.
func Strangers(t testing.TB, data string) {
	t.Helper()
	s, release := Open(t, data)
	defer release()
	now := time.Now().UTC()
	for _, a := range []storage.App{
		{ID: DocumentID, Name: "Claude Code", Public: true, Client: &client.Description{Kind: client.Document,
			RedirectURIs: []string{RemoteURI, "http://127.0.0.1/callback"},
			Grants:       []string{"authorization_code", "refresh_token"}, AuthMethod: client.AuthNone, FetchedAt: now,
			FreshUntil: now.Add(24 * time.Hour)}},
		{ID: DynamicID, Name: "Keystile \u202eteruces\u202c " + strings.Repeat("Security Team ", 12), Public: true,
			Client: &client.Description{Kind: client.Dynamic, RedirectURIs: []string{"http://127.0.0.1/callback", SchemeURI},
				Grants: []string{"authorization_code", "refresh_token"}, AuthMethod: client.AuthNone,
				ExpiresAt: now.Add(24 * time.Hour)}},
	} {
		_, err := s.SaveApp(t.Context(), a)
		fatal(t, err)
	}
	shop := []toolplan.Tool{described("get", "findOrders", "Find orders by customer, date or status"),
		described("get", "getOrder", "Show one order with its items"),
		described("post", "refundOrder", "Pay an order back to the customer"),
		described("delete", "cancelOrder", "Cancel an order that was not sent yet")}
	post := []toolplan.Tool{described("get", "searchLetters", "Search the letters that you may read"),
		described("post", "sendLetter", "Send a letter in your name")}
	_, err := s.SaveCapability(t.Context(), storage.Capability{Member: "shop", Label: "Web shop",
		Kind: storage.CapabilityREST, UpstreamURL: "https://shop.example", Publish: true, Owner: "u1"}, shop)
	fatal(t, err)
	_, err = s.SaveCapability(t.Context(), storage.Capability{Member: "post", Label: "Post office",
		Kind: storage.CapabilityREST, UpstreamURL: "https://post.example", Publish: true, Owner: "u1"}, post)
	fatal(t, err)
	_, err = s.SaveBundle(t.Context(), access.Bundle{Name: "support", Label: "For answering customers",
		Tools: []string{"shop__findOrders", "shop__getOrder", "post__sendLetter"}})
	fatal(t, err)
}

func described(method, name, text string) toolplan.Tool {
	return toolplan.Tool{Name: name, Method: method, Path: "/" + name, Description: text, InputSchema: json.RawMessage(`{"type":"object"}`), Call: &toolplan.Call{Template: "/" + name}}
}

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
