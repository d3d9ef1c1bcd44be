package lostanswer_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/keystile/keystile/storage"
)

const document = `{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},"paths":{
	"/orders":{"post":{"operationId":"createOrder","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"item":{"type":"string"}}}}}}}},
	"/orders/{id}":{"get":{"operationId":"getOrder","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}]}}}}`

func (w *world) registration(member string) string {
	return fmt.Sprintf(`{"member":%q,"upstream_url":%q,"openapi":%s}`, member, w.shop.URL, document)
}

func (w *world) tools(token string) (names []string) {
	w.Helper()
	a := w.must(200, postJSON("/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, bearer(token)...))
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	json.Unmarshal(a.Body.Bytes(), &list)
	for _, t := range list.Result.Tools {
		names = append(names, t.Name)
	}
	return names
}

func registerFlow(w *world) func() func() {
	u, token := w.somebody(storage.RoleDeveloper), w.machine(w.app(""))
	cookie, member := w.signedIn(u), fmt.Sprintf("shop%d", w.n)
	return func() func() {
		made := w.must(200, postJSON("/api/console/capabilities/register", w.registration(member), session(cookie)...))
		if !strings.Contains(made.Body.String(), `"tool_count":2`) {
			w.Errorf("register = %s", made.Body)
		}
		check := func() {
			n := 0
			for _, name := range w.tools(token) {
				if strings.HasPrefix(name, member+"__") {
					n++
				}
			}
			if n != 2 {
				w.Errorf("%d tools are listed, want 2", n)
			}
		}
		check()
		return func() {
			check()
			w.must(200, request{"DELETE", "/api/console/capabilities/" + member, "", pairs(session(cookie))})
		}
	}
}

func toolFlow(w *world) func() func() {
	u, a := w.somebody(storage.RoleDeveloper), w.app("")
	cookie, member := w.signedIn(u), fmt.Sprintf("shop%d", w.n)
	w.must(200, postJSON("/api/console/capabilities/register", w.registration(member), session(cookie)...))
	token, before := w.machine(a), w.shop.calls.Load()
	return func() func() {
		const times = 2
		for range times {
			got := w.must(200, postJSON("/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+member+`__getOrder","arguments":{"id":"7"}}}`, bearer(token)...))
			if !strings.Contains(got.Body.String(), `"structuredContent":{"id":"7"}`) {
				w.Errorf("tools/call = %s", got.Body)
			}
		}
		return func() {
			if calls, counted := w.shop.calls.Load()-before, w.charged(a, "mcp"); calls != times || counted != times {
				w.Errorf("%d calls reached the upstream and %d are counted of %d that were answered", calls, counted, times)
			}
			w.must(200, request{"DELETE", "/api/console/capabilities/" + member, "", pairs(session(cookie))})
		}
	}
}

func orderFlow(w *world) func() func() {
	u, manager := w.somebody(""), w.app("")
	token := w.granted(manager, u, "openid apps").text("access_token")
	id := w.must(200, postJSON("/api/v1/apps", `{"name":"Shop","domains":["shop.example.com"]}`, bearer(token)...)).text("data.client_id")
	return func() func() {
		made := w.must(200, postJSON("/api/v1/billing/upgrade", `{"client_id":"`+id+`","tier":"white_label"}`, bearer(token)...))
		order := made.text("data.order_id")
		w.must(200, get("/api/v1/billing/orders/"+order, bearer(token)...))
		canceled := w.send(request{"DELETE", "/api/v1/billing/orders/" + order, "", pairs(bearer(token))})
		if canceled.Code != 200 && (canceled.Code != 400 || canceled.refused == 0) {
			w.Errorf("cancel = %d %s", canceled.Code, canceled.Body)
		}
		return func() {
			all, _, err := w.service.Store.Orders(w.Context(), storage.OrderQuery{AppID: id}, "", 10)
			fatal(w, err)
			if len(all) != 1 || all[0].ID != order || all[0].Status != storage.OrderCanceled {
				w.Errorf("the orders are %+v, want one that is canceled, %s", all, order)
			}
			w.noted("order create "+order, made)
			w.noted("order cancel "+order, canceled)
		}
	}
}

func appFlow(w *world) func() func() {
	u, manager := w.somebody(""), w.app("")
	token := w.granted(manager, u, "openid apps").text("access_token")
	return func() func() {
		made := w.must(200, postJSON("/api/v1/apps", `{"name":"Shop","domains":["shop.example.com"]}`, bearer(token)...))
		id, secret := made.text("data.client_id"), made.text("data.client_secret")
		return func() {
			w.must(200, post("/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id},
				"client_secret": {secret}}))
			owned, _, err := w.service.Store.Apps(w.Context(), u.Sub, "", 10)
			fatal(w, err)
			if len(owned) != 1 && len(owned) > 1+made.refused { // nothing tells a repeated request from a second one
				w.Errorf("there are %d applications (after %d times 503), want the one that was made", len(owned), made.refused)
			}
			w.noted("app create "+id, made)
		}
	}
}
