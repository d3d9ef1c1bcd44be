package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/console"
)

// forged is a form that no page of ours has shown to its sender. It begins as one that does something.
type forged struct {
	path    string
	session string // that the id is for
	at      time.Time
	cookie  string
	query   string
	header  http.Header
	form    url.Values
}

// forgeries are the ways to forge a form of somebody who might send it. Each is refused with one of the
// statuses.
var forgeries = map[string]func(s *scene, f *forged){
	"no id":       func(_ *scene, f *forged) { f.form.Del("form") },
	"an empty id": func(_ *scene, f *forged) { f.form.Set("form", "") },
	"garbage for an id": func(_ *scene,
		f *forged) {
		f.form.Set("form", "\x00%zz\u202e"+strings.Repeat("A", 2000))
	},
	"a changed id": func(_ *scene, f *forged) { f.form.Set("form", flipped(f.form.Get("form"))) },
	"the id of another session": func(s *scene,
		f *forged) {
		f.form.Set("form", formFor(s.who["developer"].session(), f.path, f.at))
	},
	"the id of a session of their own": func(s *scene, f *forged) {
		other := testUser{cookie: s.signedIn(s.who["admin"].Sub, time.Now())}
		s.written.since()
		f.form.Set("form", formFor(other.session(), f.path, f.at))
	},
	"the id of no session": func(_ *scene, f *forged) { f.form.Set("form", formFor("", f.path, f.at)) },
	"the id of another page": func(_ *scene,
		f *forged) {
		f.form.Set("form", formFor(f.session, "/console/", f.at))
	},
	"the id of a page below": func(_ *scene,
		f *forged) {
		f.form.Set("form", formFor(f.session, f.path+"/", f.at))
	},
	"an id that is too old": func(_ *scene,
		f *forged) {
		f.form.Set("form", formFor(f.session, f.path, f.at.Add(-56*time.Minute)))
	},
	"an id of the future": func(_ *scene,
		f *forged) {
		f.form.Set("form", formFor(f.session, f.path, f.at.Add(2*time.Minute)))
	},
	"the right id behind a wrong one": func(_ *scene, f *forged) { f.form["form"] = []string{"x", f.form.Get("form")} },
	"the id in the query": func(_ *scene, f *forged) {
		f.query = "form=" + f.form.Get("form")
		f.form.Del("form")
	},
	"everything in the query": func(_ *scene, f *forged) { f.query, f.form = f.form.Encode(), url.Values{} },
	"no act":                  func(_ *scene, f *forged) { f.form.Del("do") },
	"an act of no page":       func(_ *scene, f *forged) { f.form.Set("do", "drop") },
	"the act in the query":    func(_ *scene, f *forged) { f.query = "do=" + f.form.Get("do"); f.form.Del("do") },
	"text/plain":              func(_ *scene, f *forged) { f.header.Set("Content-Type", "text/plain") },
	"JSON":                    func(_ *scene, f *forged) { f.header.Set("Content-Type", "application/json") },
	"no type":                 func(_ *scene, f *forged) { f.header.Del("Content-Type") },
	"two types": func(_ *scene, f *forged) {
		f.header.Set("Content-Type", "application/x-www-form-urlencoded, text/plain")
	},
	"another site":          func(_ *scene, f *forged) { f.header.Set("Sec-Fetch-Site", "cross-site") },
	"a sibling of the site": func(_ *scene, f *forged) { f.header.Set("Sec-Fetch-Site", "same-site") },
	"another origin": func(_ *scene, f *forged) {
		f.header.Del("Sec-Fetch-Site")
		f.header.Set("Origin", "https://evil.example.com")
	},
	"no origin at all": func(_ *scene, f *forged) { f.header.Del("Sec-Fetch-Site"); f.header.Set("Origin", "null") },
	"an origin that programs may have": func(_ *scene, f *forged) {
		f.header.Set("Sec-Fetch-Site", "cross-site")
		f.header.Set("Origin", "https://console.example.com")
	},
	"nobody's cookie": func(_ *scene, f *forged) { f.cookie = "" },
	"two cookies":     func(s *scene, f *forged) { f.cookie += "; " + s.who["developer"].cookie },
	"an old sign-in": func(s *scene, f *forged) {
		f.cookie = s.signedIn(s.who["admin"].Sub, time.Now().Add(-11*time.Minute))
		s.written.since()
		f.form.Set("form", formFor(testUser{cookie: f.cookie}.session(), f.path, f.at))
	},
}

func flipped(id string) string {
	if id[0] == 'A' {
		return "B" + id[1:]
	}
	return "A" + id[1:]
}

// send sends it as a browser would.
func (f *forged) send(s *scene) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", base+f.path+"?"+f.query, strings.NewReader(f.form.Encode()))
	r.Header = f.header
	return s.browse(r, f.cookie)
}

// formOf makes a form of an administrator's that does something.
func (s *scene) formOf(q request, of string) *forged {
	f := &forged{path: s.fill(q.path, of, q.path), session: s.who["admin"].session(), at: time.Now(),
		cookie: s.who["admin"].cookie}
	if q.path == "/console/clients/show" {
		f.query = "id=" + url.QueryEscape(document)
	}
	text := strings.NewReplacer(newOwner, s.own["developer"]["sub"], "{by}", "admin").Replace(bodies[q.name()])
	f.form, _ = url.ParseQuery(s.fill(text, of, q.path))
	f.form.Set("do", q.act)
	f.form.Set("form", formFor(f.session, f.path, f.at))
	f.header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}}
	return f
}

// refused complains unless an answer is a refusal, of which nothing has come.
func (s *scene) refused(w *httptest.ResponseRecorder, what string) {
	s.Helper()
	kept := strings.Contains(w.Body.String(), "<title>Confirm that it is you")
	asked := kept || strings.Contains(w.Body.String(), "<title>Sign in")
	switch {
	case w.Code != 400 && w.Code != 403 && w.Code != 404 && w.Code != 409 && !asked:
		s.Errorf("%s: %d", what, w.Code)
	case w.Header().Get("Location") != "":
		s.Errorf("%s: it leads on to %s", what, w.Header().Get("Location"))
	}
	wrote, _ := s.written.since()
	if kept { // what was typed is kept, sealed
		wrote = slices.DeleteFunc(wrote,
			func(what string) bool { return strings.HasPrefix(what, "ticket ") || what == "hmac kept forms" })
	}
	if len(wrote) > 0 {
		s.Errorf("%s: it wrote %v", what, wrote)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events)+len(s.notices) > 0 {
		s.Errorf("%s: the trail has %s, told is %v", what, s.trail(), s.notices)
	}
	s.events, s.notices = nil, nil
}

// TestForgedFormsDoNothing forges each act of each page in each way, and lets each role send those of others.
func TestForgedFormsDoNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newScene(t)
	n, acts := 0, 0
	for _, q := range served(console.Parts(s.console)) {
		if q.act == "" {
			continue
		}
		acts++
		for name, forge := range forgeries {
			f := s.formOf(q, "")
			if forge(s, f); name == "an old sign-in" && unrecorded[q.name()] {
				continue // it may be old for what changes nothing
			}
			s.refused(f.send(s), name+": "+q.name())
			n++
		}
		for _, role := range roles {
			if role == "admin" {
				continue
			}
			f := s.formOf(q, "")
			f.cookie, f.form["form"] = s.who[role].cookie, []string{formFor(s.who[role].session(), f.path, f.at)}
			if role != "auditor" && (q.path == "/console/apps/new" || role != "guest" && role != "owner" &&
				q.path == "/console/capabilities/new") {
				continue // theirs to do
			}
			if role == "nobody" {
				f.cookie = ""
			}
			s.refused(f.send(s), role+": "+q.name())
			n++
		}
	}
	if n < 60 || acts < 40 {
		t.Errorf("only %d forms of %d acts were forged", n, acts)
	}
	t.Logf("%d forged forms, of %d acts", n, acts)
}

// TestFormActsOnceAndOnItsPageAlone sends forms that are good at first: each does what it is for, once.
func TestFormActsOnceAndOnItsPageAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	n := 0
	for _, q := range served(console.Parts(newScene(t).console)) {
		if q.act == "" || unrecorded[q.name()] {
			continue
		}
		s := newScene(t)
		s.handOver(q)
		f := s.formOf(q, "")
		if q.path == "/console/clients/show" && (q.act == "disable" || q.act == "enable") {
			f.query = "id=" + dynamic
		}
		var others []*forged // of the same page: the id will have been used up by another act
		for _, other := range served(console.Parts(s.console)) {
			if other.path == q.path && other.act != "" && other.act != q.act {
				again := s.formOf(other, "")
				again.form.Set("form", f.form.Get("form"))
				again.query = f.query
				others = append(others, again)
			}
		}
		w := f.send(s)
		if w.Code != 303 && w.Code != 200 {
			t.Errorf("%s is not done: %d %s", q.name(), w.Code, w.Body)
		}
		if cell := s.outcome(w, ""); !strings.Contains(cell, "t") {
			t.Errorf("%s is not on the trail: %s", q.name(), cell)
		}
		s.refused(f.send(s), "twice: "+q.name())
		for _, again := range others {
			s.refused(again.send(s), "used for "+q.act+": "+again.form.Get("do")+" at "+q.path)
			n++
		}
		n++
	}
	if n < 60 {
		t.Errorf("only %d forms were sent again", n)
	}
}

// A form as a browser sends it with a file is judged as others are.
func TestForgedUploadDoesNothing(t *testing.T) {
	s := newScene(t)
	for name, id := range map[string]string{"no id": "", "another page's": formFor(s.who["admin"].session(), "/console/",
		time.Now()), "another session's": formFor("x", "/console/capabilities/new", time.Now())} {
		var body bytes.Buffer
		m := multipart.NewWriter(&body)
		f := s.formOf(request{path: "/console/capabilities/new", method: "POST", act: "register"}, "")
		f.form.Set("form", id)
		for field := range f.form {
			m.WriteField(field, f.form.Get(field))
		}
		m.Close()
		r := httptest.NewRequest("POST", base+f.path, &body)
		r.Header.Set("Content-Type", m.FormDataContentType())
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		s.refused(s.browse(r, f.cookie), name)
	}
}
