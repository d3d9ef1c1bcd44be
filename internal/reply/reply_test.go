package reply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

var teapot = &reply.Failure{Status: 400, Errcode: 40163, OAuth: "invalid_grant", Msg: "used: get a new one",
	Header: http.Header{"Warning": {"x"}}}

func serve(t *testing.T, log io.Writer, r *http.Request, handle reply.HandlerFunc) *httptest.ResponseRecorder {
	t.Helper()
	mux := reply.NewMux(slog.New(slog.NewTextHandler(log, nil)),
		reply.Route{Path: "/x", Methods: []string{"GET", "POST"}, Handle: handle})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

func TestHandlerResultsReachTheClient(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		body   string
		logged bool
	}{
		{"a failure", teapot.Because(errors.New("hidden cause")), 400,
			`{"error":"invalid_grant","error_description":"used: get a new one","code":40163,"errcode":40163,"msg":"used: get a new one"}`, false},
		{"a wrapped failure", fmt.Errorf("hidden: %w", teapot), 400,
			`{"error":"invalid_grant","error_description":"used: get a new one","code":40163,"errcode":40163,"msg":"used: get a new one"}`, false},
		{"a failure without codes", &reply.Failure{Status: 403, Msg: "no"}, 403, `{"code":403,"errcode":403,"msg":"no"}`, false},
		{"a store that is away", fmt.Errorf("hidden: %w", storage.ErrUnavailable), 503,
			`{"error":"temporarily_unavailable","error_description":"the store does not answer: try again shortly","code":503,"errcode":503,"msg":"the store does not answer: try again shortly"}`, true},
		{"anything else", errors.New("hidden"), 500,
			`{"error":"server_error","error_description":"something failed here: try again, and tell the operator the time of this request","code":500,"errcode":500,"msg":"something failed here: try again, and tell the operator the time of this request"}`, true},
	} {
		var log bytes.Buffer
		w := serve(t, &log, httptest.NewRequest("GET", "/x", nil), func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("ETag", "stale")
			return c.err
		})
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: %d %s, want %d %s", c.name, w.Code, w.Body, c.status, c.body)
		}
		if w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" {
			t.Errorf("%s: headers %v, want no-store and no ETag", c.name, w.Header())
		}
		if got := strings.Contains(log.String(), "hidden"); got != c.logged {
			t.Errorf("%s: cause logged %t, want %t: %s", c.name, got, c.logged, log.String())
		}
	}
	w := serve(t, io.Discard, httptest.NewRequest("GET", "/x", nil),
		func(http.ResponseWriter, *http.Request) error { return storage.ErrUnavailable })
	if w.Header().Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

func TestFailureIsNeverASuccessCode(t *testing.T) {
	for _, f := range []*reply.Failure{{Status: 400}, {Status: 401, Errcode: 401}, {Status: 400, Errcode: 105}} {
		if f.Code() <= 1 {
			t.Errorf("Code of %+v = %d, want neither 0 nor 1", f, f.Code())
		}
	}
}

func TestCopiesOfAFailureLeaveTheOriginalAlone(t *testing.T) {
	before := fmt.Sprintf("%+v", *teapot)
	teapot.Because(io.EOF).Saying("x").Named("y").With("Warning", "z")
	if after := fmt.Sprintf("%+v", *teapot); after != before {
		t.Errorf("the original became %s", after)
	}
}

func TestBodyOverItsLimitIs413(t *testing.T) {
	r := httptest.NewRequest("POST", "/x", strings.NewReader("too much"))
	w := serve(t, io.Discard, r, func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 3))
		return err
	})
	if w.Code != 413 {
		t.Errorf("status = %d, want 413", w.Code)
	}
}

func TestPanicIsA500AndEndsNothingElse(t *testing.T) {
	var log bytes.Buffer
	w := serve(t, &log, httptest.NewRequest("GET", "/x", nil), func(http.ResponseWriter,
		*http.Request) error {
		panic("hidden")
	})
	if w.Code != 500 || strings.Contains(w.Body.String(), "hidden") || !strings.Contains(log.String(), "hidden") {
		t.Errorf("panic = %d %s, logged %q", w.Code, w.Body, log.String())
	}
}

func TestReplyServesOnlyListedMethodsAndCleanPaths(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/x", 200}, {"POST", "/x", 200}, {"HEAD", "/x", 405}, {"PUT", "/x", 405}, {"OPTIONS", "/x", 405},
		{"GET", "/", 404}, {"GET", "/x/", 404}, {"GET", "//x", 404}, {"GET", "/./x", 404}, {"GET", "/y/../x", 404},
		{"GET", "/X", 404}, {"GET", "/x%2f", 404},
	} {
		w := serve(t, io.Discard, httptest.NewRequest(c.method, c.path, nil),
			func(w http.ResponseWriter, _ *http.Request) error {
				return reply.JSON(w, 200, struct{}{})
			})
		if w.Code != c.status || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s %s = %d as %q, want %d as JSON", c.method, c.path, w.Code, w.Header().Get("Content-Type"), c.status)
		}
		if c.status == 405 && w.Header().Get("Allow") != "GET, POST" {
			t.Errorf("%s %s: Allow = %q", c.method, c.path, w.Header().Get("Allow"))
		}
	}
}

func TestClientThatWentAwayIsNotLogged(t *testing.T) {
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	serve(t, &log, httptest.NewRequest("GET", "/x", nil).WithContext(ctx),
		func(http.ResponseWriter, *http.Request) error { return ctx.Err() })
	if log.Len() != 0 {
		t.Errorf("logged %s", log.String())
	}
}

func TestRouteMayAnswerWithAPage(t *testing.T) {
	mux := reply.NewMux(nil, reply.Route{Path: "/page", Methods: []string{"GET"},
		Handle: func(http.ResponseWriter, *http.Request) error { return teapot },
		Fail:   func(w http.ResponseWriter, _ *http.Request, f *reply.Failure) { http.Error(w, "<p>"+f.Msg, f.Status) }})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/page", nil))
	if w.Code != 400 || !strings.HasPrefix(w.Body.String(), "<p>") || w.Header().Get("Warning") != "x" {
		t.Errorf("page = %d %q %v", w.Code, w.Body, w.Header())
	}
}

func TestJSONIsOneObjectWithItsLength(t *testing.T) {
	w := httptest.NewRecorder()
	reply.JSON(w, 200, map[string]string{"a": "<&>"})
	if w.Body.String() != `{"a":"<&>"}` || w.Header().Get("Content-Length") != "11" || !json.Valid(w.Body.Bytes()) {
		t.Errorf("JSON = %q, Content-Length %s", w.Body, w.Header().Get("Content-Length"))
	}
	if err := reply.JSON(httptest.NewRecorder(), 200, func() {}); err == nil {
		t.Error("a value that is no JSON is written")
	}
}

func TestSuccessCarriesItsDataAndIsNotStored(t *testing.T) {
	w := httptest.NewRecorder()
	if err := reply.Success(w, []int{1}); err != nil {
		t.Fatal(err)
	}
	if got := w.Body.String(); got != `{"code":1,"msg":"success","data":[1]}` || w.Code != 200 || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v %s", w.Code, w.Header(), got)
	}
}
