package s3_test

import (
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/stream/s3"
	"github.com/keystile/keystile/storage"
)

const (
	accessKey = "AKIDEXAMPLE"
	secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	session   = "FQoGZXIvYXdzEXAMPLETOKEN/of+a+session=="
	region    = "eu-central-1"
	bucket    = "trail"
)

// store is a store of objects that verifies what it is asked by code of its own, and can fail.
type store struct {
	*httptest.Server
	pathStyle bool
	session   string // that requests have to bring; "": none

	mu       sync.Mutex
	objects  map[string][]byte
	puts     int
	refused  []string
	headers  http.Header // of the last request
	host     string
	answer   func(w http.ResponseWriter, r *http.Request, keep func()) bool
	rewrites int // objects that came again with other bytes
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{objects: map[string][]byte{}, pathStyle: true}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// failing makes the store answer by itself, where f returns true; nil: it works.
func (s *store) failing(f func(w http.ResponseWriter, r *http.Request, keep func()) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	s.headers, s.host = r.Header.Clone(), r.Host
	if err := s.verify(r, body); err != nil {
		s.refused = append(s.refused, err.Error())
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>%s %s</Message></Error>`, err, r.Header.Get("Authorization"))
		return
	}
	keep := func() {
		key := strings.TrimPrefix(r.URL.Path, "/")
		if s.pathStyle {
			key = strings.TrimPrefix(key, bucket+"/")
		}
		if was, there := s.objects[key]; there && !bytes.Equal(was, body) {
			s.rewrites++
		}
		s.objects[key] = body
	}
	if s.answer != nil && s.answer(w, r, keep) {
		return
	}
	keep()
	w.Header().Set("ETag", `"x"`)
}

// asked returns how many requests there were.
func (s *store) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.puts
}

// verify checks a request as the document of Amazon describes it ("Authenticating Requests: Using the
// Authorization Header"), without any code that the client uses.
func (s *store) verify(r *http.Request, body []byte) error {
	if r.Method != http.MethodPut || r.URL.RawQuery != "" {
		return fmt.Errorf("%s %s is not what is asked here", r.Method, r.URL)
	}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	fields := map[string]string{}
	for part := range strings.SplitSeq(rest, ", ") {
		name, value, _ := strings.Cut(part, "=")
		fields[name] = value
	}
	scope := strings.Split(fields["Credential"], "/")
	if !ok || len(scope) != 5 || scope[0] != accessKey || scope[2] != region || scope[3] != "s3" ||
		scope[4] != "aws4_request" {
		return fmt.Errorf("the credential is %q", fields["Credential"])
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", date)
	if err != nil || at.Format("20060102") != scope[1] || time.Since(at).Abs() > 15*time.Minute {
		return fmt.Errorf("the date is %q", date)
	}
	sum, check := sha256.Sum256(body), md5.Sum(body)
	if r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]) ||
		r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(check[:]) {
		return fmt.Errorf("the hashes are not those of the body")
	}
	if r.Header.Get("X-Amz-Security-Token") != s.session {
		return fmt.Errorf("the token of the session is another one")
	}
	signed := strings.Split(fields["SignedHeaders"], ";")
	for name := range r.Header { // what is not signed can be changed on the way
		if lower := strings.ToLower(name); (strings.HasPrefix(lower, "x-amz-") || lower == "content-md5") &&
			!slices.Contains(signed, lower) {
			return fmt.Errorf("%s is not signed", name)
		}
	}
	if !slices.IsSorted(signed) || !slices.Contains(signed, "host") {
		return fmt.Errorf("the signed headers are %q", signed)
	}
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "PUT\n%s\n\n", r.URL.EscapedPath())
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, strings.TrimSpace(value))
	}
	fmt.Fprintf(&canonical, "\n%s\n%s", fields["SignedHeaders"], hex.EncodeToString(sum[:]))
	hash := sha256.Sum256([]byte(canonical.String()))
	key := []byte("AWS4" + secretKey)
	for _, part := range append(scope[1:5:5], "AWS4-HMAC-SHA256\n"+date+"\n"+strings.Join(scope[1:],
		"/")+"\n"+hex.EncodeToString(hash[:])) {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(key)), []byte(fields["Signature"])) {
		return fmt.Errorf("the signature is another one")
	}
	return nil
}

// lines unpacks an object.
func (s *store) lines(t *testing.T, name string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := gzip.NewReader(bytes.NewReader(s.objects[name]))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(text)
}

func (s *store) names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.objects {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// config returns that of a client of the store.
func (s *store) config() s3.Config {
	return s3.Config{
		Endpoint: s.URL, Region: region, Bucket: bucket, Prefix: "keystile/a", PathStyle: true,
		AccessKey: accessKey, SecretKey: storage.NewSecret(secretKey), Timeout: 5 * time.Second,
	}
}

func made(t *testing.T, c s3.Config) *s3.Target {
	t.Helper()
	target, err := s3.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { target.Close(t.Context()) })
	return target
}
