package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const busy = `time=2026-01-02T03:04:05Z level=WARN msg="more is asked for than can be done" status=503` + "\n"

// serverOf answers as a script says, one answer after the other; the last one is repeated.
func serverOf(t *testing.T, script ...http.HandlerFunc) (w *wire, asked *int) {
	asked = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		script[min(*asked, len(script)-1)](w, r)
		*asked++
	}))
	t.Cleanup(server.Close)
	w = newWire(newJournal(), strings.TrimPrefix(server.URL, "http://"), t.TempDir())
	w.pause = 0
	t.Cleanup(w.close)
	return w, asked
}

func unavailable(headers, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if headers != "" {
			w.Header().Set(headers, "1")
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, text)
	}
}

func TestWhoStandsInACrowdComesBack(t *testing.T) {
	crowd := unavailable("Retry-After", "<p>Too many people are signing in at this moment.")
	in := func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: "s"})
		w.WriteHeader(http.StatusSeeOther)
	}
	for _, c := range []struct {
		name              string
		script            []http.HandlerFunc
		asked, violations int
		cookie            string
	}{
		{"the third time they are let in", []http.HandlerFunc{crowd, crowd, in}, 3, 0, sessionCookie + "=s"},
		{"the crowd never ends", []http.HandlerFunc{crowd}, comesBack, 1, ""},
		{"it is another trouble", []http.HandlerFunc{unavailable("Retry-After", "The store cannot be reached."), in}, 1, 1, ""},
		{"nobody says when to come back", []http.HandlerFunc{unavailable("", "Too many people are signing in"), in}, 1, 1, ""},
	} {
		w, asked := serverOf(t, c.script...)
		cookie, _, err := signIn(w, "ada", "secret")
		if err != nil || cookie != c.cookie || *asked != c.asked || len(w.journal.violations) != c.violations {
			t.Errorf("%s: cookie %q, asked %d times, %d violations, %v; want %q, %d, %d", c.name, cookie, *asked, len(w.journal.violations), err, c.cookie, c.asked, c.violations)
		}
	}
}

func TestALineOfACrowdIsNoComplaint(t *testing.T) {
	const bad = "time=2026-01-02T03:04:05Z level=ERROR msg=\"what is asked for cannot be done\"\n"
	for said, want := range map[string]string{"": "", busy: "", busy + bad + busy: bad, bad: bad} {
		if got := complaints(said); got != want {
			t.Errorf("%q complains %q, want %q", said, got, want)
		}
	}
}
