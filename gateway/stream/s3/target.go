package s3

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/netguard"
)

// Target puts batches into a bucket. It is used by many goroutines at once.
type Target struct {
	c      Config
	base   *url.URL
	client *http.Client
	guard  *netguard.Guard
	signer *v4.Signer
}

// New makes a Target. It asks nobody: whether the key is right shows with the first batch.
func New(c Config) (*Target, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	base, err := c.base()
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	guard, err := netguard.New(netguard.Config{Allow: []string{hostPort(base)}, HeaderTimeout: 2 * c.Timeout})
	if err != nil {
		return nil, fmt.Errorf("s3: endpoint: %w", err)
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // as S3 has it
	return &Target{c: c, base: base, client: guard.Client(c.Timeout), guard: guard, signer: signer}, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Name says which bucket it is, and where in it.
func (t *Target) Name() string {
	return strings.TrimSuffix("s3 "+t.c.Bucket+"/"+t.c.Prefix, "/")
}

// Close closes idle connections.
func (t *Target) Close(ctx context.Context) error { return t.guard.Close(ctx) }

// Put puts a batch as an object. An error has what the store says, and no secret.
func (t *Target) Put(ctx context.Context, b stream.Batch) error {
	body, err := packed(b.Lines)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.c.Timeout)
	defer cancel()
	r, err := t.request(ctx, b.Key, body)
	if err != nil {
		return err
	}
	answer, err := t.client.Do(r)
	if err != nil {
		return fmt.Errorf("s3: %s: %w", t.base.Host, withoutURL(err))
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil {
		err = refusal(answer.StatusCode, said)
	}
	if err != nil {
		return fmt.Errorf("s3: %s: %w", t.base.Host, err)
	}
	return nil
}

const maxAnswer = 16 << 10

// packed compresses lines. The same lines make the same bytes: the header has neither a time nor a name.
func packed(lines []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(lines); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// request returns a signed PUT.
func (t *Target) request(ctx context.Context, key string, body []byte) (*http.Request, error) {
	at := *t.base
	if t.c.Prefix != "" {
		at.Path += "/" + t.c.Prefix
	}
	at.Path += "/" + key + ".jsonl.gz"
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, at.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	sum, check := sha256.Sum256(body), md5.Sum(body)
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("Content-Type", "application/gzip")
	r.Header.Set("Content-MD5", base64.StdEncoding.EncodeToString(check[:]))
	r.Header.Set("X-Amz-Content-Sha256", hash)
	if t.c.Encryption != "" {
		r.Header.Set("X-Amz-Server-Side-Encryption", t.c.Encryption)
	}
	if t.c.KMSKey != "" {
		r.Header.Set("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", t.c.KMSKey)
	}
	keys := aws.Credentials{AccessKeyID: t.c.AccessKey, SecretAccessKey: t.c.SecretKey.Reveal(),
		SessionToken: t.c.SessionToken.Reveal()}
	if err := t.signer.SignHTTP(ctx, keys, r, hash, "s3", t.c.Region, time.Now()); err != nil {
		return nil, fmt.Errorf("s3: sign: %w", err)
	}
	return r, nil
}

// withoutURL drops the address that net/http puts before an error: the host is said anyway, and a name of an
// object in it would make each error another one.
func withoutURL(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// refusal returns what is wrong with an answer. Some stores answer 200 and then say that they failed.
func refusal(status int, said []byte) error {
	var e struct {
		XMLName xml.Name `xml:"Error"`
		Code    string   `xml:"Code"`
	}
	failed := xml.Unmarshal(said, &e) == nil
	if status == http.StatusOK && !failed && len(bytes.TrimSpace(said)) == 0 {
		return nil
	}
	if status == http.StatusOK && !failed {
		return errors.New("it answers 200 with a body, as no store of objects does: is the endpoint one?")
	}
	hint := map[string]string{
		"AccessDenied":                 "the key may not put objects there",
		"InvalidAccessKeyId":           "the store does not know streams.s3.access_key",
		"SignatureDoesNotMatch":        "streams.s3.secret_key, or the region, is another one",
		"NoSuchBucket":                 "make the bucket, or see streams.s3.bucket",
		"PermanentRedirect":            "see streams.s3.region and streams.s3.endpoint",
		"AuthorizationHeaderMalformed": "see streams.s3.region",
		"ExpiredToken":                 "the temporary keys are too old",
		"RequestTimeTooSkewed":         "see the clock of this machine",
	}[e.Code]
	text := fmt.Sprintf("it answers %d", status)
	if e.Code != "" {
		text += " " + clean(e.Code)
	}
	if hint != "" {
		text += ": " + hint
	}
	return errors.New(text)
}

// clean keeps what is strange out of the log. The messages of errors are left out as a whole: some quote
// what was sent.
func clean(code string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '?'
	}, code[:min(len(code), 60)])
}
