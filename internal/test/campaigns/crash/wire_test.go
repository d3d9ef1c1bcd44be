package main

import (
	"errors"
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

func TestCrowdIsRetried(t *testing.T) {
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
		{"it is another trouble", []http.HandlerFunc{unavailable("Retry-After", "The store cannot be reached."), in}, 1, 1,
			""},
		{"nobody says when to come back", []http.HandlerFunc{unavailable("", "Too many people are signing in"), in}, 1, 1,
			""},
	} {
		w, asked := serverOf(t, c.script...)
		cookie, _, err := signIn(w, "ada", "secret")
		if err != nil || cookie != c.cookie || *asked != c.asked || len(w.journal.violations) != c.violations {
			t.Errorf("%s: cookie %q, asked %d times, %d violations, %v; want %q, %d, %d", c.name, cookie, *asked,
				len(w.journal.violations), err, c.cookie, c.asked, c.violations)
		}
	}
}

func TestLineOfACrowdIsNoComplaint(t *testing.T) {
	const bad = "time=2026-01-02T03:04:05Z level=ERROR msg=\"what is asked for cannot be done\"\n"
	for said, want := range map[string]string{"": "", busy: "", busy + bad + busy: bad, bad: bad} {
		if got := complaints(said); got != want {
			t.Errorf("%q complains %q, want %q", said, got, want)
		}
	}
}

// While a database is away 503 is no answer. Every other answer is one, and so is 503 before and after.
func TestRequestsFailWhileADatabaseIsAway(t *testing.T) {
	away := unavailable("Retry-After", "the store does not answer")
	broken := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	for _, c := range []struct {
		name           string
		shared, doomed bool
		answer         http.HandlerFunc
		gone           bool
		violations     int
	}{
		{"it is away", true, true, away, true, 0},
		{"nobody has killed it", true, false, away, false, 1},
		{"there is none", false, true, away, false, 1},
		{"the server breaks", true, true, broken, false, 1},
	} {
		w, _ := serverOf(t, c.answer)
		w.shared = c.shared
		w.doomed.Store(c.doomed)
		_, err := w.get("/")
		if errors.Is(err, errGone) != c.gone || len(w.journal.violations) != c.violations || (w.away.Load() == 1) != c.gone {
			t.Errorf("%s: %v, %d of %q", c.name, err, w.away.Load(), w.journal.violations)
		}
	}
}

func TestRequestsGoToOneServerAfterTheOther(t *testing.T) {
	ok := func(w http.ResponseWriter, _ *http.Request) {}
	w, first := serverOf(t, ok)
	other, second := serverOf(t, ok)
	w.also(strings.TrimPrefix(other.targets[0].base, "http://"), t.TempDir())
	for range 6 {
		must(t)(w.get("/"))
	}
	if *first != 3 || *second != 3 {
		t.Errorf("of six requests %d and %d arrived, want 3 and 3", *first, *second)
	}
}
