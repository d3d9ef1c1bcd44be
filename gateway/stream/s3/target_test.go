package s3_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/gateway/stream/s3"
	"github.com/keystile/keystile/storage"
)

var batch = stream.Batch{Stream: stream.Audit, Key: "audit/2026/03/01/17-000000000001-000000000002",
	Lines: []byte("{\"a\":1}\n{\"a\":2}\n"), Count: 2}

func TestBatchIsAnObjectThatIsSignedAsTheStoreWantsIt(t *testing.T) {
	for name, change := range map[string]func(s *store, c *s3.Config){
		"path style": func(*store, *s3.Config) {},
		"no prefix":  func(_ *store, c *s3.Config) { c.Prefix = "" },
		"odd prefix": func(_ *store, c *s3.Config) { c.Prefix = "a.b-c_d/E" },
		"virtual host": func(s *store, c *s3.Config) {
			s.pathStyle, c.PathStyle, c.Endpoint = false, false, "http://objects.example.com:9000"
		},
		"session":    func(s *store, c *s3.Config) { s.session, c.SessionToken = session, storage.NewSecret(session) },
		"encryption": func(_ *store, c *s3.Config) { c.Encryption = "AES256" },
		"encryption kms": func(_ *store, c *s3.Config) {
			c.Encryption, c.KMSKey = "aws:kms", "arn:aws:kms:eu-central-1:1:key/x-1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			c := s.config()
			change(s, &c)
			target := made(t, c)
			if !c.PathStyle {
				target.ResolveForTest(s.Listener.Addr().String())
			}
			for range 2 {
				if err := target.Put(t.Context(), batch); err != nil {
					t.Fatalf("%v; the store says %q", err, s.refused)
				}
			}
			if host := "trail.objects.example.com:9000"; !c.PathStyle && s.host != host {
				t.Errorf("the host is %q, want %q", s.host, host)
			}
			want := strings.TrimPrefix(c.Prefix+"/"+batch.Key+".jsonl.gz", "/")
			if names := s.names(); !slices.Equal(names, []string{want}) {
				t.Fatalf("the objects are %q, want %q", names, want)
			}
			if got := s.lines(t, want); got != string(batch.Lines) {
				t.Errorf("the object holds %q", got)
			}
			if s.rewrites != 0 {
				t.Error("the same batch makes other bytes the second time")
			}
			if got := s.headers.Get("X-Amz-Server-Side-Encryption") +
				s.headers.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id"); got != c.Encryption+c.KMSKey {
				t.Errorf("the headers ask for the encryption %q", got)
			}
		})
	}
}

func TestKeyThatIsWrongIsRefusedAndNotSaid(t *testing.T) {
	s := newStore(t)
	for name, change := range map[string]func(*s3.Config){
		"secret":  func(c *s3.Config) { c.SecretKey = storage.NewSecret("another" + secretKey) },
		"id":      func(c *s3.Config) { c.AccessKey = "AKIDANOTHER" },
		"region":  func(c *s3.Config) { c.Region = "us-east-1" },
		"session": func(c *s3.Config) { c.SessionToken = storage.NewSecret(session) },
	} {
		c := s.config()
		change(&c)
		err := made(t, c).Put(t.Context(), batch)
		if err == nil || !strings.Contains(err.Error(), "403 SignatureDoesNotMatch: streams.s3.secret_key") {
			t.Errorf("%s: %v", name, err)
		}
		shown := fmt.Sprintf("%v %+v %#v %v", err, err, c, c)
		for _, secret := range []string{secretKey, session, "Signature=", "Credential="} {
			if strings.Contains(shown, secret) {
				t.Errorf("%s: %q is shown by %q", name, secret, shown)
			}
		}
	}
	if len(s.names()) != 0 {
		t.Errorf("the store has %q", s.names())
	}
}

// refusals are the ways in which a store fails, and what is said of them.
func refusals(hang <-chan struct{}) map[string]struct {
	says  string
	fails func(w http.ResponseWriter, r *http.Request, keep func()) bool
} {
	type fault = func(w http.ResponseWriter, r *http.Request, keep func()) bool
	answer := func(status int, body string) fault {
		return func(w http.ResponseWriter, _ *http.Request, _ func()) bool {
			w.WriteHeader(status)
			io.WriteString(w, body)
			return true
		}
	}
	hijack := func(text string, keeps bool) fault {
		return func(w http.ResponseWriter, _ *http.Request, keep func()) bool {
			if keeps {
				keep()
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				io.WriteString(conn, text)
				conn.Close()
			}
			return true
		}
	}
	xml := func(code string) string {
		return `<?xml version="1.0" encoding="UTF-8"?>` + "\n<Error><Code>" + code + "</Code><Message>m</Message></Error>"
	}
	return map[string]struct {
		says  string
		fails fault
	}{
		"403":              {"403 AccessDenied: the key may not put objects there", answer(403, xml("AccessDenied"))},
		"404":              {"404 NoSuchBucket: make the bucket", answer(404, xml("NoSuchBucket"))},
		"500":              {"500 InternalError", answer(500, xml("InternalError"))},
		"503":              {"503 SlowDown", answer(503, xml("SlowDown"))},
		"502 without XML":  {"it answers 502", answer(502, "<html>bad gateway")},
		"200 with error":   {"it answers 200 InternalError", answer(200, xml("InternalError"))},
		"200 of a website": {"200 with a body", answer(200, "<html>hello")},
		"redirect": {"it answers 307", func(w http.ResponseWriter, r *http.Request, _ func()) bool {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return true
		}},
		"strange code":        {"it answers 400 a?0a??b", answer(400, xml("a%0a \u202eb"))},
		"cut":                 {"EOF", hijack("", false)},
		"cut behind the put":  {"EOF", hijack("", true)},
		"cut amid the answer": {"EOF", hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<Err", true)},
		"no HTTP":             {"malformed", hijack("SSH-2.0-x\r\n\r\n", false)},
		"timeout": {"deadline", func(_ http.ResponseWriter, r *http.Request, _ func()) bool {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
			return true
		}},
	}
}

func TestTargetFailsOnUnexpectedAnswers(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	for name, c := range refusals(hang) {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			conf := s.config()
			conf.Timeout = 300 * time.Millisecond
			target := made(t, conf)
			s.failing(c.fails)
			err := target.Put(t.Context(), batch)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
			if n := s.asked(); n > 2 { // net/http may send again what a connection that was kept has lost
				t.Errorf("%d requests", n)
			}
			s.failing(nil)
			if err := target.Put(t.Context(), batch); err != nil {
				t.Errorf("once it works: %v", err)
			}
			if len(s.names()) != 1 || s.rewrites != 0 {
				t.Errorf("the objects are %q, %d of them came with other bytes", s.names(), s.rewrites)
			}
		})
	}
}

func TestCallThatIsCanceledEnds(t *testing.T) {
	s := newStore(t)
	target := made(t, s.config())
	ctx, cancel := context.WithCancel(t.Context())
	s.failing(func(_ http.ResponseWriter, r *http.Request, _ func()) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if err := target.Put(ctx, batch); err == nil {
		t.Error("it says that the batch is kept")
	}
}

// Only the endpoint is let through, whatever it answers.
func TestEndpointLeadsNowhereElse(t *testing.T) {
	other := newStore(t)
	s := newStore(t)
	s.failing(func(w http.ResponseWriter, r *http.Request, _ func()) bool {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusPermanentRedirect)
		return true
	})
	if err := made(t, s.config()).Put(t.Context(), batch); err == nil || other.asked() != 0 {
		t.Errorf("the redirect was followed: %v, %d requests", err, other.asked())
	}
}

func TestConfigIsJudgedBeforeItIsUsed(t *testing.T) {
	good := s3.Config{Region: "us-east-1", Bucket: "trail", AccessKey: accessKey, SecretKey: storage.NewSecret(secretKey)}
	if _, err := s3.New(good); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*s3.Config){
		"region":     func(c *s3.Config) { c.Region = "" },
		"bucket":     func(c *s3.Config) { c.Bucket = "Trail_1" },
		"prefix":     func(c *s3.Config) { c.Prefix = "/a" },
		"prefix: ":   func(c *s3.Config) { c.Prefix = "a/../b" },
		"missing":    func(c *s3.Config) { c.SecretKey = storage.Secret{} },
		"access_key": func(c *s3.Config) { c.AccessKey = "a b" },
		"secret_key": func(c *s3.Config) { c.SecretKey = storage.NewSecret(secretKey + "\n") },
		"session":    func(c *s3.Config) { c.SessionToken = storage.NewSecret("a\r\nb") },
		"encryption": func(c *s3.Config) { c.Encryption = "rot13" },
		"kms_key":    func(c *s3.Config) { c.KMSKey = "x" },
		"endpoint":   func(c *s3.Config) { c.Endpoint = "https://user:word@example.com" },
		"endpoint: ": func(c *s3.Config) { c.Endpoint = "ftp://example.com" },
		"endpoint:":  func(c *s3.Config) { c.Endpoint = "https://example.com/path" },
		"path_style": func(c *s3.Config) { c.Endpoint = "https://10.0.0.1:9000" },
		"with a dot": func(c *s3.Config) { c.Bucket = "a.b" },
		"timeout":    func(c *s3.Config) { c.Timeout = -1 },
	} {
		c := good
		change(&c)
		_, err := s3.New(c)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), secretKey) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}

func TestNameIsThatOfThePlace(t *testing.T) {
	for want, c := range map[string]s3.Config{"s3 trail": {}, "s3 trail/a/b": {Prefix: "a/b", Encryption: "AES256"}} {
		c.Region, c.Bucket, c.AccessKey, c.SecretKey = "us-east-1", "trail", accessKey, storage.NewSecret(secretKey)
		if got := made(t, c).Name(); got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
	}
}
