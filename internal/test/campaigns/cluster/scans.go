package main

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
)

// scanner signs in at a screen by a code that a phone scans; each request goes to another node.
type scanner struct {
	*actor
	phone string // the cookie of the session on the phone
}

var (
	scanID   = regexp.MustCompile(`name="id" value="([A-Z2-7]{26})"`)
	pollPath = regexp.MustCompile(`data-poll="([^"]+)"`)
)

const browserCookie = "keystile_browser"

func (s *scanner) step() {
	if s.phone == "" {
		name := s.fresh("phone")
		if s.makeUser(s.node(), name) != "" {
			s.phone = s.signIn(s.way(), name, password)
		}
		return
	}
	at := s.node()
	shown := s.get(at, "/oauth/signin/qr")
	if shown.unknown {
		s.lostSight("scan")
		return
	}
	id, poll, browser := scanID.FindSubmatch(shown.body), pollPath.FindSubmatch(shown.body), shown.cookie(browserCookie)
	if id == nil || poll == nil || browser == "" {
		s.violated("the page with a code to scan is %v", shown)
		return
	}
	if s.scan(at, string(id[1]), html.UnescapeString(string(poll[1])), browser) {
		s.did("scan")
	} else {
		s.lostSight("scan")
	}
}

// scan scans, confirms and collects, and reports whether all of it was answered.
func (s *scanner) scan(at int, id, poll, browser string) bool {
	path := "/oauth/signin/scan/" + id
	opened := s.get(s.other(at), path, "Cookie", s.phone)
	if !opened.unknown && opened.status != http.StatusOK {
		s.violated("a code that was shown, scanned at another node, is answered %v", opened)
	}
	if opened.unknown || !s.status(s.node(), poll, browser, "scanned") {
		return false
	}
	confirmed := s.post(s.node(), path, url.Values{"answer": {"confirm"}}, "Cookie", s.phone)
	if confirmed.unknown {
		return false
	}
	if confirmed.status >= 400 {
		s.violated("confirming a scan is answered %v", confirmed)
	}
	if !s.status(s.other(at), poll, browser, "confirmed") {
		return false
	}
	collected := s.post(s.other(at), "/oauth/signin/qr/collect", url.Values{"id": {id}}, "Cookie", browser)
	if collected.unknown {
		return false
	}
	if collected.status != http.StatusSeeOther || collected.cookie(sessionCookie) == "" {
		s.violated("a confirmed scan is collected at another node, and answered %v", collected)
		return true
	}
	again := s.post(s.way(), "/oauth/signin/qr/collect", url.Values{"id": {id}}, "Cookie", browser)
	if again.cookie(sessionCookie) != "" {
		s.violated("a scan was collected, and is collected again: %v", again)
	}
	return s.enters(collected.cookie(sessionCookie))
}

// enters asks a node whether a session that was acknowledged is one.
func (s *scanner) enters(cookie string) bool {
	a := s.get(s.way(), "/oauth/signin/password", "Cookie", cookie)
	if !a.unknown && a.status != http.StatusOK {
		s.violated("a session that a scan began is answered %v", a)
	}
	return !a.unknown
}

// status asks a node what became of a code.
func (s *scanner) status(node int, poll, browser, want string) bool {
	a := s.get(node, poll, "Cookie", browser)
	var is struct{ Status string }
	if a.unknown {
		return false
	}
	if json.Unmarshal(a.body, &is); is.Status != want {
		s.violated("a code to scan is %q at node %d, and must be %q: %v", is.Status, node, want, a)
	}
	return true
}
