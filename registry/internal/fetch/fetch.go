// Package fetch reads documents at addresses that users name.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/reply"
)

// Limits of a document that is fetched. One is fetched in the turn in which it is read, which others may wait for.
const (
	fetchTimeout  = 10 * time.Second // in all
	maxFetched    = 16 << 20         // bytes
	maxRedirected = 3
)

// protocol 4.8
var notFetched = &reply.Failure{Status: 400, Errcode: 4002, Msg: "the document could not be fetched"}

// Document reads an OpenAPI document at an address by the client of a guard. Redirects are followed under the same
// rules, and nothing is sent that tells one user from another. It takes ten seconds at most. Its errors tell nothing
// about networks.
func Document(ctx context.Context, guard *netguard.Guard, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	client := guard.Client(fetchTimeout)
	for range maxRedirected + 1 {
		u, err := netguard.CheckURL(address)
		if err != nil {
			return nil, failed(err.Error())
		}
		text, next, err := fetch(ctx, client, u)
		if err != nil || next == "" {
			return text, err
		}
		address = next
	}
	return nil, failed("its server redirects too often")
}

// fetch asks for a document once, and returns it or where its server redirects to.
func fetch(ctx context.Context, client *http.Client, u *url.URL) (text []byte, next string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", notFetched.Because(err)
	}
	// An encoding of our own choice keeps net/http from unpacking what is small only on the way.
	r.Header = http.Header{"Accept": {"application/json, application/yaml, */*;q=0.5"}, "Accept-Encoding": {"identity"},
		"User-Agent": {"keystile"}}
	answer, err := client.Do(r)
	if err != nil {
		return nil, "", unfetched(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 == 3 {
		to, err := answer.Location()
		if err != nil || u.Scheme == "https" && to.Scheme != "https" {
			return nil, "", failed("its server redirects to nowhere safe")
		}
		return nil, to.String(), nil
	}
	if answer.StatusCode != http.StatusOK {
		return nil, "", failed(fmt.Sprintf("its server answers with status %d", answer.StatusCode))
	}
	text, err = io.ReadAll(io.LimitReader(answer.Body, maxFetched+1))
	switch {
	case len(text) > maxFetched:
		return nil, "", failed("it has more than 16 MiB")
	case err != nil:
		return nil, "", unfetched(err)
	}
	return text, "", nil
}

// failed says why nothing was fetched.
func failed(why string) error { return notFetched.Saying(notFetched.Msg + ": " + why) }

// unfetched says that nothing was read, and tells nothing about networks.
func unfetched(err error) error {
	why := "its server could not be reached"
	if refused := (*netguard.Refused)(nil); errors.As(err, &refused) {
		why = "its server is at an address that is not asked from here: the operator allows private ones " +
			"(upstreams.allow_private)"
	} else if errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Sprintf("its server did not answer within %d seconds", int(fetchTimeout/time.Second))
	}
	return failed(why)
}
