package requests

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
)

func (d *desk) lines() int { return strings.Count(d.out.String(), "\n") }

func TestRequestLogOfStrangersHasSixtyLinesAMinuteAndASum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		for range 5_000 {
			d.serve("GET", "/nowhere")
		}
		d.serve("POST", "/known/7") // which is another kind
		if got := d.lines(); got != linesOfKind+1 {
			t.Errorf("%d lines of 5,001 requests, want 61", got)
		}
		time.Sleep(sumEvery)
		synctest.Wait()
		if want := "level=INFO msg=\"more of the same\" count=4940 of=request method=GET path=other " +
			"status=404\n"; d.lines() != linesOfKind+2 || !strings.HasSuffix(d.out.String(), want) {
			t.Errorf("logged %s at the end of %d lines, want %s", d.out.String()[len(d.out.String())-200:], d.lines(), want)
		}
		d.out.Reset()
		if d.serve("GET", "/nowhere"); d.lines() != 1 {
			t.Error("the next minute has no line of its own")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if d.lines() != 1 {
			t.Errorf("logged %s, want no sum of nothing", d.out.String())
		}
	})
}

// A known caller has a rate, and each of their requests its line, until they are over it.
func TestRequestLogHasALineForEachRequestOfAKnownCaller(t *testing.T) {
	status := 200
	for name, identify := range map[string]func(*reqctx.Visit){
		"a token":               func(v *reqctx.Visit) { v.Known = true },
		"a session or a secret": func(v *reqctx.Visit) { v.Identified = true },
	} {
		d := newDesk(t, func(w http.ResponseWriter, r *http.Request) {
			identify(reqctx.From(r.Context()))
			w.WriteHeader(status)
		})
		for _, c := range []struct{ status, want int }{{200, 500}, {404, 500}, {500, 500}, {429, linesOfKind}} {
			d.out.Reset()
			for status = c.status; d.begun%500 != 0 || d.begun == 0 || d.lines() == 0; {
				d.serve("GET", "/")
			}
			if got := d.lines(); got != c.want {
				t.Errorf("%s: %d lines of 500 requests answered %d, want %d", name, got, c.status, c.want)
			}
		}
	}
}

func TestStrangersCannotMakeManyKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		status := 200
		d.next = func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }
		for i := range 100_000 {
			status = 200 + i%700
			d.serve("GET", "/")
		}
		if got := d.lines(); got > (maxKinds+1)*linesOfKind {
			t.Errorf("%d lines", got)
		}
		d.out.Reset()
		d.log.Handler().(*Handler).Close()
		total := 0
		for line := range strings.Lines(d.out.String()) {
			n := 0
			if _, rest, found := strings.Cut(line, "count="); found {
				fmt.Sscan(rest, &n)
			}
			total += n
		}
		if want := 100_000 - (maxKinds+1)*linesOfKind; total != want || d.lines() != maxKinds+1 {
			t.Errorf("%d lines sum up %d, want %d of %d", d.lines(), total, maxKinds+1, want)
		}
	})
}

// However many kinds of requests and of errors strangers make, what the service says about somebody has its lines.
func TestStrangersDoNotSilenceWhatIsSaidAboutOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		d.next = func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == "POST":
				d.log.WarnContext(r.Context(), "sign-in refused")
				d.log.InfoContext(r.Context(), "signed in")
			default:
				w.WriteHeader(200 + d.begun%700)
				d.log.ErrorContext(r.Context(), "request failed", "err", fmt.Sprint("trouble ", d.begun))
			}
		}
		for range 20_000 {
			d.serve("GET", "/")
		}
		d.out.Reset()
		for range 50 {
			d.serve("POST", "/")
		}
		for _, said := range []string{`msg="sign-in refused"`, `msg="signed in"`} {
			if n := strings.Count(d.out.String(), said); n != 50 {
				t.Errorf("%d of 50 lines with %s are written", n, said)
			}
		}
	})
}

func TestLinesWithinStrangersRequestsAreSummedAndThoseOfTheServiceAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, nil)
		d.conf.Quiet = true
		log := d.log.With("a", 1)
		d.next = func(_ http.ResponseWriter, r *http.Request) {
			log.InfoContext(r.Context(), "sign-in refused", "ip", r.URL.Path)
			log.ErrorContext(r.Context(), "request failed", "err", "the disk is full")
			if r.URL.Path == "/999" {
				log.ErrorContext(r.Context(), "request failed", "err", "a panic")
			}
		}
		for i := range 1_000 {
			d.serve("GET", fmt.Sprint("/", i))
			log.Warn("of the service itself")
		}
		if got := d.lines(); got != 1_000+2*linesOfKind+1 || !strings.Contains(d.out.String(), "a panic") {
			t.Errorf("%d lines, want %d, with the one trouble among others", got, 1_000+2*linesOfKind+1)
		}
		d.out.Reset()
		d.log.Handler().(*Handler).Close()
		for _, want := range []string{`level=INFO msg="more of the same" count=940 of="sign-in refused"`, `level=ERROR msg="more of the same" count=940 of="request failed" err="the disk is full"`} {
			if !strings.Contains(d.out.String(), want) {
				t.Errorf("logged %s, want %s", d.out.String(), want)
			}
		}
	})
}

func TestRequestLogSumsWhatTheServerSaysOfConnections(t *testing.T) {
	var out bytes.Buffer
	lines := Log(slog.NewTextHandler(&out, nil))
	server := ServerLog(slog.New(lines))
	for i := range 1_000 {
		server.Printf("http: TLS handshake error from 192.0.2.1:%d: EOF", i)
		server.Printf("http: TLS handshake error from [2001:db8::%x]:1: EOF", i)
	}
	server.Print("http: Accept error: too many open files; retrying in 5ms")
	if got := strings.Count(out.String(), "\n"); got != linesOfKind+1 ||
		!strings.Contains(out.String(), "level=WARN msg=\"http: Accept error: too many open files") {
		t.Errorf("%d lines, want %d with the one that is no handshake", got, linesOfKind+1)
	}
	lines.Close()
	if want := `level=WARN msg="more of the same" count=1940 of="http: TLS handshake error from "`; !strings.Contains(out.String(), want) {
		t.Errorf("logged %s, want %s", out.String(), want)
	}
	out.Reset()
	if server.Print("http: TLS handshake error from 192.0.2.1:1: EOF"); out.Len() == 0 {
		t.Error("what comes after Close is lost")
	}
}
