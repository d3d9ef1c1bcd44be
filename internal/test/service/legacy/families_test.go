package legacy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

// family is one kind of client: how it sends requests and reads answers.
type family struct {
	name string
	send func(h *fixture, v url.Values) *http.Request
	read func(raw string, success int) (map[string]string, error) // the texts of a success
}

var families = []family{
	{"PHP, which compares loosely", byGet, readLoosely},
	{"Go, which decodes into types", byGet, readTyped},
	{"a page's fetch", byFetch, readLoosely},
	{"a form by POST", byPost, readTyped},
	{"one that signs", bySignature, readLoosely},
}

func withKey(v url.Values) url.Values {
	v.Set("appkey", appKey)
	return v
}

func byGet(_ *fixture, v url.Values) *http.Request { return request("GET", "/connect.php", withKey(v)) }

func byPost(_ *fixture, v url.Values) *http.Request {
	return request("POST", "/connect.php", withKey(v))
}

// byFetch holds the headers that a browser sends for a page of the application's own origin.
func byFetch(_ *fixture, v url.Values) *http.Request {
	r := request("GET", "/connect.php", withKey(v))
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Sec-Fetch-Mode", "cors")
	r.Header.Set("Sec-Fetch-Dest", "empty")
	r.Header.Set("Origin", "https://app.example.com")
	return r
}

func bySignature(h *fixture, v url.Values) *http.Request {
	return request("GET", "/connect.php", h.signed(v))
}

// readLoosely is json_decode and ==: a number, or a text that looks like it.
func readLoosely(raw string, success int) (map[string]string, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		return nil, err
	}
	if fmt.Sprint(all["code"]) != fmt.Sprint(success) {
		return nil, fmt.Errorf("code is %v", all["code"])
	}
	texts := map[string]string{}
	for name, v := range all {
		if text, ok := v.(string); ok {
			texts[name] = text
		}
	}
	return texts, nil
}

// readTyped fails where a field has another type than such clients declare.
func readTyped(raw string, success int) (map[string]string, error) {
	var all struct {
		Code      int    `json:"code"`
		Msg       string `json:"msg"`
		Type      string `json:"type"`
		URL       string `json:"url"`
		SocialUID string `json:"social_uid"`
		Token     string `json:"access_token"`
		Nickname  string `json:"nickname"`
		Face      string `json:"faceimg"`
		Gender    string `json:"gender"`
		Location  string `json:"location"`
		IP        string `json:"ip"`
	}
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		return nil, err
	}
	if all.Code != success {
		return nil, fmt.Errorf("code is %d", all.Code)
	}
	return map[string]string{"type": all.Type, "url": all.URL, "social_uid": all.SocialUID, "access_token": all.Token,
		"nickname": all.Nickname, "faceimg": all.Face, "gender": all.Gender}, nil
}

// The whole way, as each kind of client goes it: login, the browser, callback, query.
func TestFamilyOfClientsSignsAUserIn(t *testing.T) {
	for _, f := range families {
		for _, success := range []int{0, 1} {
			t.Run(fmt.Sprint(f.name, ", success is ", success), func(t *testing.T) {
				h := newFixture(t)
				h.change(func(a *storage.App) { a.LegacySuccessCode = &success })
				send := func(pairs ...string) map[string]string {
					t.Helper()
					w := h.serve(f.send(h, form(append([]string{"appid", "1000"}, pairs...)...)))
					texts, err := f.read(w.Body.String(), success)
					if err != nil || w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
						t.Fatalf("%q = %d %s: %v", pairs, w.Code, w.Body, err)
					}
					return texts
				}
				began := send("act", "login", "type", "self", "redirect_uri", redirect+"?own=1", "state", "s 1")
				r := httptest.NewRequest("GET", began["url"], nil)
				r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
				back, err := h.serve(r).Result().Location()
				if err != nil || !strings.HasPrefix(back.String(), redirect+"?own=1&type=self&code=") ||
					back.Query().Get("state") != "s 1" {
					t.Fatalf("the browser comes back to %v, %v", back, err)
				}
				came := send("act", "callback", "type", "self", "code", back.Query().Get("code"))
				if came["type"] != "self" || len(came["social_uid"]) != 32 || came["access_token"] == "" ||
					came["nickname"] != "Ada" || came["gender"] != "女" {
					t.Errorf("callback = %v", came)
				}
				known := send("act", "query", "type", "self", "social_uid", came["social_uid"])
				if known["social_uid"] != came["social_uid"] || known["nickname"] != "Ada" || known["faceimg"] == "" {
					t.Errorf("query = %v", known)
				}
			})
		}
	}
}
