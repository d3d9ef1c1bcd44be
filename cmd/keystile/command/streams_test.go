package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/gateway/stream/s3"
	"github.com/keystile/keystile/internal/test/said"
	"github.com/keystile/keystile/storage"
)

// A reader of standard output gets records and nothing else.
func TestStandardOutputHasNothingButRecords(t *testing.T) {
	t.Parallel()
	s := startShipping(t, "--streams-audit", "stdout", "--streams-usage", "stdout", "--admin-listen", "127.0.0.1:0")
	id := s.out.Find(t, s.ended, `"id":"(\d+-[0-9a-f]{16})"`)
	_, metrics := get(t, http.DefaultClient, "http://"+s.log.Find(t, s.ended, `Admin listener +(\S+)`)+"/metrics")
	for _, name := range []string{"keystile_stream_audit_behind_seconds", "keystile_stream_audit_failing 0",
		"keystile_stream_usage_behind 0", "keystile_stream_audit_lines_total"} {
		if !strings.Contains(metrics, name) {
			t.Errorf("the metrics have no %s", name)
		}
	}
	if code := s.stop(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	wantOrder(t, s.out.String(), 1)
	again := startShippingIn(t, s.data, "--streams-audit", "stdout")
	again.out.Find(t, again.ended, `"kind":"(audit.begin)"`)
	again.stop()
	wantOrder(t, again.out.String(), uint64(strings.Count(s.out.String(), "\n"))+1) // it goes on where it was
	if strings.Contains(again.out.String(), id) {
		t.Errorf("%s is shipped again by a process that was stopped in order", id)
	}
}

// wantOrder holds lines to be records from a Seq on without a gap.
func wantOrder(t *testing.T, text string, seq uint64) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r struct {
			Stream string
			Seq    uint64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Stream != "audit" || r.Seq != seq {
			t.Errorf("standard output has %q (%v), want record %d", line, err, seq)
		}
		seq++
	}
}

func startShipping(t *testing.T, args ...string) *service {
	t.Helper()
	return startShippingIn(t, t.TempDir(), args...)
}

// startShippingIn is start of a service whose banner is in its log.
func startShippingIn(t *testing.T, data string, args ...string) *service {
	t.Helper()
	return startWith(t, data, nil, func(s *service) *said.Output { return s.log }, args...)
}

// objects is a store of objects that keeps what it is given.
type objects struct {
	mu    sync.Mutex
	names []string
	asks  []string // who asked, by their header
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.names = append(o.names, r.URL.Path)
	o.asks = append(o.asks, r.Header.Get("Authorization")+r.Header.Get("X-Amz-Security-Token"))
	if len(o.names) == 1 { // it quotes what it was sent, as some do
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, "<Error><Code>AccessDenied</Code><Message>"+r.Header.Get("Authorization")+
			r.Header.Get("X-Amz-Security-Token")+"</Message></Error>")
	}
}

// The settings of the bucket reach it: objects are named and signed so, and encrypted with that key.
func TestBucketIsAsTheConfigurationSays(t *testing.T) {
	t.Parallel()
	asked := make(chan *http.Request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		asked <- r
	}))
	defer server.Close()
	env := []string{"KEYSTILE_STREAMS_S3_SECRET_KEY=secret", "KEYSTILE_STREAMS_S3_ACCESS_KEY=AKIDEXAMPLE"}
	s := startWith(t, t.TempDir(), env, func(s *service) *said.Output { return s.out }, "--streams-audit", "s3",
		"--streams-usage", "off", "--streams-s3-endpoint", server.URL, "--streams-s3-bucket", "trail",
		"--streams-s3-path-style",
		"--streams-s3-region", "eu-west-9", "--streams-s3-prefix", "of/us", "--streams-s3-encryption", "aws:kms",
		"--streams-s3-kms-key", "ours",
		"--streams-batch-age", "1s", "--streams-batch-size", "1MiB")
	defer s.stop()
	select {
	case r := <-asked:
		if !strings.HasPrefix(r.URL.Path, "/trail/of/us/audit/20") ||
			!strings.Contains(r.Header.Get("Authorization"), "/eu-west-9/s3/") ||
			r.Header.Get("X-Amz-Server-Side-Encryption") != "aws:kms" ||
			r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id") != "ours" {
			t.Errorf("the bucket is asked for %s with %v", r.URL, r.Header)
		}
	case <-s.ended:
		t.Fatalf("it ended: %s", s.log)
	}
	c := &config.Config{Streams: config.Streams{Audit: config.StreamS3, BatchSize: 2 << 20, BatchAge: time.Minute,
		S3: s3.Config{Region: "us-east-1", Bucket: "trail", AccessKey: "a", SecretKey: storage.NewSecret("b")}}}
	if made, err := shippingOf(c, io.Discard); err != nil || made.audit.MaxBytes != 2<<20 || made.usage.Target != nil {
		t.Errorf("of batches of 2 MiB for audit records alone it makes %+v, %v", made, err)
	}
	wantFailure(t, 2, "streams.batch_size", "serve", "--data", t.TempDir(), "--streams-audit", "stdout",
		"--streams-batch-size", "1KiB")
}

func TestKeyOfTheBucketIsShownNowhere(t *testing.T) {
	t.Parallel()
	const secret, token = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY", "FQoGZXIvYXdzEXAMPLETOKEN"
	o := &objects{}
	server := httptest.NewServer(o)
	defer server.Close()
	env := []string{"KEYSTILE_STREAMS_S3_SECRET_KEY=" + secret, "KEYSTILE_STREAMS_S3_SESSION_TOKEN=" + token,
		"KEYSTILE_STREAMS_S3_ACCESS_KEY=AKIDEXAMPLE"}
	args := []string{"--streams-audit", "s3", "--streams-s3-endpoint", server.URL, "--streams-s3-bucket", "trail",
		"--streams-s3-path-style", "--streams-batch-age", "1s", "--admin-listen", "127.0.0.1:0"}
	data := t.TempDir()
	s := startWith(t, data, env, func(s *service) *said.Output { return s.out }, args...)
	s.expected = "records are not shipped"
	s.log.Find(t, s.ended, `records are shipped (again)`)
	_, metrics := get(t, http.DefaultClient, "http://"+s.out.Find(t, s.ended, `Admin listener +(\S+)`)+"/metrics")
	s.stop()
	var printed bytes.Buffer
	for _, words := range [][]string{{"config"}, {"config", "--json"}} {
		program{storage: everything()}.run(t.Context(), append(words, args...), strings.NewReader(""), &printed, &printed,
			env)
	}
	if !strings.Contains(printed.String(), "AKIDEXAMPLE") || !strings.Contains(printed.String(), "[secret]") {
		t.Errorf("the configuration is printed as %s", printed.String())
	}
	if !strings.HasPrefix(o.names[0], "/trail/audit/20") || o.names[0] != o.names[1] {
		t.Errorf("the objects are %q: want the first one twice, because it was refused", o.names)
	}
	said := s.log.String() + s.out.String() + metrics + printed.String()
	if !strings.Contains(said, "AccessDenied") || !strings.Contains(said, "records are shipped again") {
		t.Errorf("the log does not say that the bucket refused: %s", said)
	}
	for _, hidden := range []string{secret, token, "Signature="} {
		if strings.Contains(said, hidden) {
			t.Errorf("%q is shown: %s", hidden, said)
		}
	}
	wantNoFileWith(t, data, secret, token)
}
