package restcall

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slow answers after a while: with its header, or with the end of its body.
type slow struct {
	header, body time.Duration
}

func (s slow) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.header):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	resp := status(200, "")
	resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("late"), readFunc(func([]byte) (int, error) {
		select {
		case <-time.After(s.body):
			return 0, io.EOF
		case <-r.Context().Done():
			return 0, r.Context().Err()
		}
	})))
	resp.ContentLength = -1
	return resp, nil
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestTimeOfAnUpstreamIsForTheWholeAnswer(t *testing.T) {
	const allowed = 2 * time.Minute
	for name, c := range map[string]struct {
		slow
		took time.Duration
		want string
	}{
		"a header after 90 s":     {slow{90 * time.Second, 0}, 90 * time.Second, "late"},
		"a body after 90 s":       {slow{0, 90 * time.Second}, 90 * time.Second, "late"},
		"both, and in time":       {slow{59 * time.Second, 60 * time.Second}, 119 * time.Second, "late"},
		"a header that never is":  {slow{time.Hour, 0}, allowed, "did not answer within 2m0s"},
		"a body that never ends":  {slow{0, time.Hour}, allowed, "did not answer within 2m0s"},
		"both, and over the time": {slow{61 * time.Second, 60 * time.Second}, allowed, "did not answer within 2m0s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r, err := newCaller(t, Config{Transport: c.slow}).Call(t.Context(), Upstream{BaseURL: base, Timeout: allowed},
				compile(t, get), nil)
			if took := time.Since(began); err != nil || took != c.took || !strings.Contains(texts(r), c.want) ||
				r.IsError != (c.took == allowed) {
				t.Errorf("%s: %q, %v after %v; want %q after %v", name, texts(r), err, took, c.want, c.took)
			}
		})
	}
}
