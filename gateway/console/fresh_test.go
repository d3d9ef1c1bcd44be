package console_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

const appSecret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"

// enrols gives a user an authenticator app.
func (h *fixture) enrols(sub string) {
	f := must(h.store.Factors(h.Context(), sub))(h)
	f.UserID, f.Authenticator, f.AppSecret = sub, &authn.Authenticator{CreatedAt: time.Now().UTC()},
		storage.NewSecret(appSecret)
	must(h.store.SaveFactors(h.Context(), f))(h)
}

// shows returns what the app of a user shows now (RFC 6238).
func shows() string {
	key, _ := base32.StdEncoding.DecodeString(appSecret)
	mac := hmac.New(sha1.New, key)
	binary.Write(mac, binary.BigEndian, time.Now().Unix()/30)
	sum := mac.Sum(nil)
	at := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[at:])&0x7fffffff%1000000)
}

// Decision 91: a session of one factor of an administrator who has two, as a trusted browser begins it, opens no page
// of the console and no endpoint, to read or to change, for any role.
func TestSecondFactorIsRequiredByAllPagesAndEndpoints(t *testing.T) {
	s := newScene(t)
	for _, who := range s.who {
		s.enrols(who.Sub)
	}
	tried := 0
	for _, q := range served(console.Parts(s.console)) {
		for role := range s.who {
			s.written.since()
			w, _ := s.sends(q, role, "")
			asked := w.Code == 303 && w.Header().Get("Location") == "/oauth/signin/factor"
			if strings.HasPrefix(q.path, "/api/") {
				asked = w.Code == 403 && strings.Contains(w.Body.String(), "4031") &&
					strings.Contains(w.Body.String(), "/oauth/account/confirm")
			}
			may := w.Code != 403 && w.Code != 404 || asked // what is not theirs in any case is refused as ever
			if may && !asked || role == "admin" && !asked {
				s.Errorf("%s for %s = %d to %q", q.name(), role, w.Code, w.Header().Get("Location"))
			}
			wrote, _ := s.written.since()
			for _, what := range wrote {
				if !strings.HasPrefix(what, "ticket ") && what != "hmac kept forms" {
					s.Errorf("%s for %s wrote %s", q.name(), role, what)
				}
			}
			tried++
		}
	}
	if len(s.events)+len(s.notices) > 0 || tried < 400 {
		t.Errorf("%d requests; the trail has %s, told is %v", tried, s.trail(), s.notices)
	}
}

// person is somebody at a browser that keeps cookies as browsers do, in front of the console and of sign-in.
type person struct {
	*scene
	client *http.Client
}

func (s *scene) person(cookie string) *person {
	jar := must(cookiejar.New(nil))(s)
	name, value, _ := strings.Cut(cookie, "=")
	at := must(url.Parse(base))(s)
	jar.SetCookies(at, []*http.Cookie{{Name: name, Value: value, Path: "/", Secure: true}})
	return &person{s, &http.Client{Jar: jar, Transport: s, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// RoundTrip serves what browsers ask for.
func (s *scene) RoundTrip(r *http.Request) (*http.Response, error) {
	in := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
	in.Header = r.Header.Clone()
	in.Header.Set("User-Agent", "curl/8")
	if r.Method == http.MethodPost {
		in.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	w := httptest.NewRecorder()
	if strings.HasPrefix(r.URL.Path, "/oauth/") {
		s.signIn.ServeHTTP(w, in)
	} else {
		s.console.ServeHTTP(w, in)
	}
	return w.Result(), nil
}

// opens does a request and returns the page, following nothing.
func (p *person) opens(r *http.Request) (code int, to, page string) {
	p.Helper()
	answer := must(p.client.Do(r))(p)
	body := must(io.ReadAll(answer.Body))(p)
	return answer.StatusCode, answer.Header.Get("Location"), string(body)
}

func (p *person) gets(path string) (code int, to, page string) {
	return p.opens(must(http.NewRequest("GET", base+path, nil))(p))
}

func (p *person) sends(path, kind string, body []byte) (code int, to, page string) {
	r := must(http.NewRequest("POST", base+path, bytes.NewReader(body)))(p)
	r.Header.Set("Content-Type", kind)
	return p.opens(r)
}

const urlencoded = "application/x-www-form-urlencoded"

// confirms proves a password and a code on the page that asks for them, and lets the form go on.
func (p *person) confirms(username, page string) (code int, to, after string) {
	p.Helper()
	_, query, ok := strings.Cut(page, `name="query" value="`)
	query, _, _ = strings.Cut(query, `"`)
	if !ok || !strings.Contains(page, "Confirm that it is you") || !strings.Contains(page, "What you typed is kept") {
		p.Fatalf("the page does not ask: %s", page)
	}
	form := url.Values{"username": {username}, "password": {password}, "query": {html.UnescapeString(query)}}
	if code, to, after = p.sends("/oauth/signin", urlencoded, []byte(form.Encode())); to == "/oauth/signin/factor" {
		code, to, after = p.sends(to, urlencoded, []byte(url.Values{"code": {shows()}}.Encode()))
	}
	if code != 303 || !strings.HasPrefix(to, "/oauth/signin/on?") {
		p.Fatalf("the proof = %d to %q: %s", code, to, after)
	}
	return p.goesOn(to)
}

// goesOn opens the page from which a form goes on, and sends it.
func (p *person) goesOn(to string) (code int, at, after string) {
	p.Helper()
	_, _, page := p.gets(to)
	_, action, ok := strings.Cut(page, `id="on" method="post" action="`)
	action, _, _ = strings.Cut(action, `"`)
	if !ok {
		p.Fatalf("nothing goes on: %s", page)
	}
	return p.sends(html.UnescapeString(action), urlencoded, nil)
}

// idOn is the id of the form on a page.
func idOn(page string) string {
	id := drawnID.FindString(page)
	id = strings.TrimPrefix(id, `name="form" value="`)
	return strings.TrimSuffix(id, `"`)
}

// aged makes the session of a cookie old.
func (s *scene) aged(cookie string) {
	v := must(s.store.Session(s.Context(), handle.Hash(strings.TrimPrefix(cookie, "open_sso_token="))))(s)
	v.AuthTime = time.Now().Add(-11 * time.Minute)
	must(s.store.SaveSession(s.Context(), v))(s)
}

// A user who is asked for a sign-in loses nothing that they typed: the form goes on, whole, and once.
func TestFormOfTheConsoleGoesOnAfterTheProof(t *testing.T) {
	for _, factors := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t)
			root := s.who["admin"]
			p := s.person(root.cookie)
			_, _, page := p.gets("/console/apps/new")
			if factors {
				s.enrols(root.Sub)
			}
			s.aged(root.cookie)
			form := url.Values{"do": {"new"}, "form": {idOn(page)}, "name": {"Café & Söhne \"1\""},
				"domains": {"one.example.com\r\ntwo.example.com"}}
			code, _, page := p.sends("/console/apps/new", urlencoded, []byte(form.Encode()))
			if code != 200 {
				t.Fatalf("the form = %d %s", code, page)
			}
			code, to, after := p.confirms("admin", page)
			apps, _, err := s.store.FindApps(t.Context(), "café", "", "", 5)
			if err != nil || len(apps) != 1 || apps[0].Name != form.Get("name") ||
				strings.Join(apps[0].Domains, " ") != "one.example.com two.example.com" {
				t.Fatalf("the form goes on = %d to %q, made are %+v %v: %s", code, to, apps, err, after)
			}
			// The same form again is one that was sent: it is not kept to be done a second time.
			if code, _, again := p.sends("/console/apps/new", urlencoded, []byte(form.Encode())); code != 400 ||
				!strings.Contains(again, "this form is too old") {
				t.Errorf("once more = %d %s", code, again)
			}
			apps, _, _ = s.store.FindApps(t.Context(), "café", "", "", 5)
			if len(apps) != 1 {
				t.Errorf("made are %+v", apps)
			}
			must(0, s.signIn.Close(t.Context()))(t)
		})
	}
}

// A capability goes on with its document, which is a file or what was pasted, of several MiB.
func TestCapabilityGoesOnWithItsDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, as := range []string{"file", "document"} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t)
			root := s.who["developer"]
			p := s.person(root.cookie)
			_, _, page := p.gets("/console/capabilities/new")
			s.aged(root.cookie)
			document := `{"openapi":"3.0.0","info":{"title":"kept","version":"1"},"paths":{"/pets":{"get":{"operationId":"listPets","description":"` + strings.Repeat("It lists pets. ", 300_000) + `","responses":{"200":{"description":"ok"}}}}}}`
			var body bytes.Buffer
			m := multipart.NewWriter(&body)
			for name, text := range map[string]string{"do": "register", "form": idOn(page), "member": "keptpets",
				"upstream_url": "https://pets.example.com", "auth_type": "bearer", "auth_secret": "s3cret-typed"} {
				must(0, m.WriteField(name, text))(t)
			}
			if as == "file" {
				part := must(m.CreateFormFile("file", "pets.json"))(t)
				must(io.WriteString(part, document))(t)
			} else {
				must(0, m.WriteField("document", document))(t)
			}
			must(0, m.Close())(t)
			code, _, page := p.sends("/console/capabilities/new", m.FormDataContentType(), body.Bytes())
			if code != 200 {
				t.Fatalf("the form = %d %.500s", code, page)
			}
			code, to, after := p.confirms("developer", page)
			c, tools, err := s.store.Tools(t.Context(), "keptpets")
			if err != nil || code != 303 || c.ToolCount != 1 || len(tools) != 1 || c.AuthSecret.Reveal() != "s3cret-typed" ||
				!strings.HasPrefix(tools[0].Description, "It lists pets. It lists") {
				t.Fatalf("as %s it goes on = %d to %q, stored is %+v %v: %.500s", as, code, to, c, err, after)
			}
			must(0, s.signIn.Close(t.Context()))(t)
		})
	}
}

// A form whose id is none of ours is not kept: another site's page could have it done after a sign-in otherwise.
func TestForgedFormIsNotKept(t *testing.T) {
	s := newScene(t)
	root := s.who["admin"]
	p := s.person(root.cookie)
	s.aged(root.cookie)
	for _, id := range []string{"", "none", formFor("another session", "/console/apps/new", time.Now())} {
		s.written.since()
		code, _, page := p.sends("/console/apps/new", urlencoded,
			[]byte(url.Values{"do": {"new"}, "form": {id}, "name": {"Typed"}, "domains": {"x.example.com"}}.Encode()))
		if wrote, _ := s.written.since(); code != 400 || len(wrote) > 0 || !strings.Contains(page, `value="Typed"`) {
			t.Errorf("with the id %q = %d, wrote %v; what was typed is on the page: %t", id, code, wrote, strings.Contains(page, `value="Typed"`))
		}
	}
}
