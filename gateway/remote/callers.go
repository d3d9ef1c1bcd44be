package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/statement"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
)

// Told holds what Keystile says of one call to the service that answers it (decision 122).
type Told struct {
	// the application, its user, who acts for them, and until when it is said; the scope is not. UserID is the openid
	// where that was chosen
	storage.Caller
	Tool      string // MEMBER__NAME, or the product of a service behind the proxy
	RequestID string // that of Keystile's audit trail; "" where identity_jti is off
}

// Callers verifies statements about callers (Keystile-Caller), for a service that is the upstream of a capability, or
// behind the proxy, with identity signed. It needs no closing.
type Callers struct {
	v      *Verifier
	origin string
	of     []string
}

// Callers returns what verifies statements about the calls of capabilities and products, by their names, to a service
// at an origin, such as https://api.example.com: the one of upstream_url, which Keystile calls. A capability of
// somebody else may lead to the same service with another request than its caller meant, so at least one has to be
// named.
func (v *Verifier) Callers(origin string, of ...string) (*Callers, error) {
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Host == "" || lasthop.Origin(u) != origin:
		return nil, fmt.Errorf("remote: the origin %q is not one such as https://api.example.com, in small letters and "+
			"without a default port", origin)
	case len(of) == 0 || slices.Contains(of, ""):
		return nil, errors.New("remote: name the capabilities and products whose calls this service takes")
	}
	return &Callers{v, origin, slices.Clone(of)}, nil
}

var errOther = errors.New("the call is of another capability or product")

// Verify returns what a statement says. The error is an *Error. A statement is good for a minute, and as often as it is
// sent: for once alone, keep its TokenID that long.
func (c *Callers) Verify(ctx context.Context, sent string) (Told, error) {
	var t Told
	err := c.v.byKeys(ctx, func() error {
		s, err := statement.Read(c.v.tokens, sent, c.v.c.BaseURL, c.origin)
		if member, _, _ := strings.Cut(s.Tool, "__"); err == nil && !slices.Contains(c.of, member) {
			return errOther
		}
		t = Told{storage.Caller{AppID: s.ClientID, UserID: s.Subject, Audience: s.Audience, TokenID: s.ID,
			ExpiresAt: s.ExpiresAt, Actors: s.Actors}, s.Tool, s.RequestID}
		return err
	})
	if err != nil {
		return Told{}, err
	}
	if t.UserID == t.AppID {
		t.UserID = "" // an application that acts for itself
	}
	return t, nil
}

// noStatement is the refusal of a request that nothing good is said of.
var noStatement = &reply.Failure{Status: 401, // RFC 9110 15.5.2
	Msg:    "this service is called through Keystile, which says who calls in Keystile-Caller: call it there",
	Header: http.Header{"Www-Authenticate": {"Keystile-Caller"}}}

type toldKey struct{}

// ToldFrom returns what is said of a request behind Callers.Require.
func ToldFrom(ctx context.Context) (Told, bool) {
	t, ok := ctx.Value(toldKey{}).(Told)
	return t, ok
}

// Require returns a handler that lets calls through to next of which a good statement is sent, and answers others with
// 401 or 503. An MCP server requires it of tools/call alone: its session is of all callers together.
func (c *Callers) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var told Told
		err := error(noStatement)
		if sent := r.Header[lasthop.Header]; len(sent) == 1 {
			var why *Error
			if told, err = c.Verify(r.Context(), sent[0]); errors.As(err, &why) && why.Status == http.StatusUnauthorized {
				err = noStatement.Because(err)
			} else if err != nil {
				err = notNow.Because(err)
			}
		}
		if err != nil {
			reply.Fail(c.v.c.Log, w, r, err, nil)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), toldKey{}, told)))
	})
}
