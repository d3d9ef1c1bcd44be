package restcall

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// pieces sends pieces of a stream, a second after one another, and then waits, or ends as it is told.
type pieces struct {
	contentType string
	pieces      []string
	end         error // nil: it does not end
}

func (p pieces) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := status(200, "")
	resp.Header = http.Header{"Content-Type": {p.contentType}}
	resp.ContentLength = -1
	left := p.pieces
	resp.Body = io.NopCloser(readFunc(func(to []byte) (int, error) {
		if len(left) == 0 && p.end != nil {
			return 0, p.end
		}
		wait := time.Second
		if len(left) == 0 {
			wait = time.Hour
		}
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return 0, r.Context().Err()
		}
		n := copy(to, left[0])
		left = left[1:]
		return n, nil
	}))
	return resp, nil
}

func TestStreamThatDoesNotEndGivesItsBeginning(t *testing.T) {
	const cut = "\nThis is the beginning of a stream that had not ended: "
	events := []string{"data: 1\n\n", "data: 2\r\n\r\n", "data: 3\n"}
	for name, c := range map[string]struct {
		pieces
		want string
	}{
		"events": {pieces{"text/event-stream; charset=utf-8", events, nil}, "data: 1\n\ndata: 2\r\n\r\n" + cut +
			"the time of the call was up."},
		"events that break off": {pieces{"text/event-stream", events, io.ErrUnexpectedEOF},
			"data: 1\n\ndata: 2\r\n\r\n" + cut + "the connection broke off."},
		"events that end": {pieces{"text/event-stream", events, io.EOF}, "data: 1\n\ndata: 2\r\n\r\ndata: 3\n"},
		"lines": {pieces{"application/x-ndjson", []string{"{\"a\":1}\n", "{\"a\""}, nil}, "{\"a\":1}\n" + cut +
			"the time of the call was up."},
		"a watch": {pieces{"application/json;stream=watch", []string{"{\"a\":1}\n"}, nil}, "{\"a\":1}\n" + cut +
			"the time of the call was up."},
		"a log that is followed": {pieces{"text/plain", []string{"one\ntw"}, nil}, "one\n" + cut +
			"the time of the call was up."},
		"a table": {pieces{"text/csv", []string{"1,2\n3"}, nil},
			"1,2\n" + cut + "the time of the call was up."},
		"progress": {pieces{"text/plain", []string{"10%\r20%\r3"}, nil},
			"10%\r20%\r" + cut + "the time of the call was up."},
		"lines of another type": {pieces{"text/x-ndjson", []string{"{}\n["}, nil},
			"{}\n" + cut + "the time of the call was up."},
		"lines told to be JSON": {pieces{"application/json", []string{"{\"a\":1}\n", "{\"a\":2}\n{"}, nil},
			"{\"a\":1}\n{\"a\":2}\n" + cut + "the time of the call was up."},
		"a sequence": {pieces{"application/json-seq", []string{"\x1e{\"a\":\n1}\n", "\x1e{\"a\":\n"}, nil},
			"\x1e{\"a\":\n1}\n" + cut + "the time of the call was up."},
		"one document in lines": {pieces{"application/json", []string{"[1,\n2,\n"}, nil}, "did not answer within 10s"},
		"too much": {pieces{"application/jsonl", []string{"1\n", strings.Repeat("2", 90) + "\n",
			strings.Repeat("3", 90)}, nil},
			"1\n" + strings.Repeat("2", 90) + "\n" + cut + "at most 100 bytes are passed on."},
		"no whole piece": {pieces{"text/event-stream", []string{"data: 1"}, nil}, "did not answer within 10s"},
		"nothing":        {pieces{"text/event-stream", nil, nil}, "did not answer within 10s"},
		"one document":   {pieces{"application/json", []string{"{\"a\":1}\n"}, nil}, "did not answer within 10s"},
		"a page":         {pieces{"text/html", []string{"<p>\n"}, nil}, "did not answer within 10s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := newCaller(t, Config{Transport: c.pieces, MaxResponse: 100,
				Timeout: 10 * time.Second}).Call(t.Context(), Upstream{BaseURL: base}, compile(t, get), nil)
			failed := strings.HasPrefix(c.want, "did not")
			if err != nil || r.IsError != failed || texts(r) != c.want &&
				!(failed && strings.Contains(texts(r), c.want)) {
				t.Errorf("%s: %q, %v, want %q", name, texts(r), err, c.want)
			}
			if r.Structured != nil {
				t.Errorf("%s: the beginning is taken for a whole: %s", name, r.Structured)
			}
		})
	}
}

func TestStreamWhoseCallerGoesAwayIsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		stream := pieces{"text/event-stream", []string{"data: 1\n\n"}, nil}
		r, err := newCaller(t, Config{Transport: stream}).Call(ctx, Upstream{BaseURL: base}, compile(t, get), nil)
		if !errors.Is(err, context.DeadlineExceeded) || r.Content != nil {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestEndThatIsCutOffDoesNotHalveTheSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "s3cr3t-s3cr3t-s3cr3t"
		to := Upstream{BaseURL: base, AuthType: "bearer", Secret: storage.NewSecret(secret)}
		stream := pieces{"application/x-ndjson", []string{"{\"you\":\"" + secret + "\"}\n{\"you\":\"s3cr3t-s3cr3t"},
			nil}
		r, err := newCaller(t, Config{Transport: stream}).Call(t.Context(), to, compile(t, get), nil)
		if err != nil || strings.Contains(texts(r), "s3cr3t") ||
			!json.Valid([]byte(strings.SplitN(texts(r), "\n", 2)[0])) {
			t.Errorf("%q, %v", texts(r), err)
		}
	})
}
