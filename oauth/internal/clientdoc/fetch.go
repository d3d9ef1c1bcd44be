package clientdoc

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/netguard"
)

const (
	maxDocument = 5 << 10
	maxKeySet   = 16 << 10
	timeout     = 5 * time.Second // of one fetch: looking up, connecting, and reading to the end
)

// Config says how documents are read. The zero Config reads from public addresses.
type Config struct {
	Allow     []string          // see netguard.Config
	Plain     bool              // http may be used too, for what is on Allow
	Transport http.RoundTripper // nil: a guarded one
}

// Fetcher reads documents and key sets. It is safe for concurrent use.
type Fetcher struct {
	transport http.RoundTripper
	guard     *netguard.Guard
	plain     bool

	hosts    []string // name:port
	ports    []netip.AddrPort
	networks []netip.Prefix
}

// New returns a Fetcher. Its errors name each entry of Allow that cannot be read.
func New(c Config) (*Fetcher, error) {
	guard, err := netguard.New(netguard.Config{Allow: c.Allow, DialTimeout: timeout, HeaderTimeout: timeout})
	if err != nil {
		return nil, err
	}
	f := &Fetcher{transport: c.Transport, guard: guard, plain: c.Plain}
	if f.transport == nil {
		f.transport = guard.Transport()
	}
	f.allow(c.Allow)
	return f, nil
}

// Close closes idle connections.
func (f *Fetcher) Close(ctx context.Context) error { return f.guard.Close(ctx) }

// Document reads the document of a client_id. Its errors are a *Problem.
func (f *Fetcher) Document(ctx context.Context, id string) (Document, error) {
	if _, err := f.CheckID(id); err != nil {
		return Document{}, err
	}
	body, head, err := f.get(ctx, id, maxDocument)
	if err != nil {
		return Document{}, err
	}
	d, err := f.Parse(id, body)
	d.Lifetime = lifetime(head)
	return d, err
}

// HostOf returns the host of a jwks_uri, with the port if it is not 443. It looks nothing up.
func (f *Fetcher) HostOf(address string) (string, error) {
	u, err := f.checkURL(address)
	if err != nil {
		return "", wrong("jwks_uri: %v", err)
	}
	return u.Host, nil
}

// Keys reads the key set at a jwks_uri. Its errors are a *Problem.
func (f *Fetcher) Keys(ctx context.Context, address string) (keys []byte, err error) {
	if _, err := f.checkURL(address); err != nil {
		return nil, wrong("jwks_uri: %v", err)
	}
	body, _, err := f.get(ctx, address, maxKeySet)
	if err != nil {
		return nil, err
	}
	return parseKeys(body)
}

// JSON reads at most so many bytes of JSON. Its errors are a *Problem.
func (f *Fetcher) JSON(ctx context.Context, address string, most int) ([]byte, error) {
	if _, err := f.checkURL(address); err != nil {
		return nil, wrong("%q: %v", address, err)
	}
	body, _, err := f.get(ctx, address, most)
	return body, err
}

// get reads at most so many bytes of JSON. It follows no redirect, and sends nothing that tells
// one requester from another.
func (f *Fetcher) get(ctx context.Context, address string, most int) (body []byte, head http.Header, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, wrong("its URL cannot be read")
	}
	// An encoding of our own choice keeps net/http from unpacking what is small only on the way.
	r.Header = http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"identity"}, "User-Agent": {"keystile"}}
	answer, err := f.transport.RoundTrip(r)
	if err != nil {
		return nil, nil, unread(err)
	}
	defer answer.Body.Close()
	if err := checkAnswer(answer); err != nil {
		return nil, nil, err
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	switch {
	case len(body) > most:
		return nil, nil, wrong("%s holds more than %d bytes", address, most)
	case err != nil:
		return nil, nil, unread(err)
	}
	return body, answer.Header, nil
}

// unread says that nothing was read, in a text that tells nothing about networks.
func unread(err error) *Problem {
	if refused := (*netguard.Refused)(nil); errors.As(err, &refused) {
		return &Problem{Text: "its host is at an address that is not read from here", Cause: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return away(err, "its host did not answer within %d seconds", int(timeout.Seconds()))
	}
	return away(err, "its host could not be reached")
}

func checkAnswer(answer *http.Response) error {
	ct, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch coded := answer.Header.Get("Content-Encoding"); {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return away(nil, "its host answers with a redirect (%d), which is not followed", answer.StatusCode)
	case answer.StatusCode != http.StatusOK:
		return away(nil, "its host answers with status %d", answer.StatusCode)
	case coded != "" && !strings.EqualFold(coded, "identity"):
		return away(nil, "its host packs the answer, which was not asked for")
	case err != nil || ct != "application/json" && !(strings.HasPrefix(ct, "application/") &&
		strings.HasSuffix(ct, "+json")):
		return away(nil, "its host does not answer with JSON")
	}
	return nil
}
