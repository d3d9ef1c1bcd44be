package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
)

const (
	finishTimeout    = 10 * time.Second // for all requests of one Finish
	discoveryTimeout = 8 * time.Second  // for one reading of the document
	freshFor         = time.Hour        // of a document
	restAfterFailure = 5 * time.Second  // without a document
	staleRest        = time.Minute      // with an old one
)

// algs are the signatures that count. With HS256 the secret would be the key, and a public key taken
// for one forges tokens; none is no signature.
var algs = []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.EdDSA}

// upstream is a connector to one issuer.
type upstream struct {
	Config
	client *http.Client // for everything but the keys
	gated  *http.Client // for the keys
	visits pkce.Deriver

	current atomic.Pointer[metadata]
	turn    chan struct{} // held while discovering; guards the fields below
	next    time.Time     // no discovery before
	failed  error         // that of the last one
	keys    *oidc.RemoteKeySet
	keysAt  string
}

// metadata holds what discovery has found.
type metadata struct {
	authorize, token, userinfo string
	post                       bool // the client authenticates in the form
	issuerReturned             bool // RFC 9207: the return must name the issuer
	verifier                   *oidc.IDTokenVerifier
	read                       time.Time
}

func (u *upstream) Name() string  { return u.Config.Name }
func (u *upstream) Label() string { return u.Config.Label }

// metadata returns what is known of the provider, and asks it if that is nothing or old.
func (u *upstream) metadata(ctx context.Context) (*metadata, error) {
	if m := u.current.Load(); m != nil && time.Since(m.read) < freshFor {
		return m, nil
	}
	select {
	case u.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, u.unreachable(ctx.Err())
	}
	defer func() { <-u.turn }()
	old := u.current.Load()
	if old != nil && time.Since(old.read) < freshFor { // by another request
		return old, nil
	}
	if time.Now().Before(u.next) {
		return old, u.without(old)
	}
	m, err := u.discover(ctx)
	if err == nil {
		u.current.Store(m)
		return m, nil
	}
	u.failed, u.next = err, time.Now().Add(restAfterFailure)
	if old != nil {
		u.next = time.Now().Add(staleRest)
	}
	return old, u.without(old)
}

func (u *upstream) without(old *metadata) error {
	if old != nil {
		return nil
	}
	return u.failed
}

// discover reads the provider's document. Others wait for it, so it goes on if who asked has gone.
func (u *upstream) discover(ctx context.Context) (*metadata, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discoveryTimeout)
	defer cancel()
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, u.client), u.Issuer)
	if mismatch := (*oidc.IssuerMismatchError)(nil); errors.As(err, &mismatch) {
		if strings.Contains(mismatch.Discovered, "{tenantid}") {
			return nil, u.trouble("", "its issuer stands for every tenant; configure the one of your tenant")
		}
		return nil, u.trouble("", fmt.Sprintf("calls itself %q, not %q; configure the issuer as the provider writes it",
			mismatch.Discovered, u.Issuer))
	}
	if err != nil {
		return nil, u.unreachable(fmt.Errorf("discovery: %w", err))
	}
	var more struct {
		Keys   string   `json:"jwks_uri"`
		Auth   []string `json:"token_endpoint_auth_methods_supported"`
		Algs   []string `json:"id_token_signing_alg_values_supported"`
		Issuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := p.Claims(&more); err != nil {
		return nil, u.trouble("", "its discovery document cannot be read")
	}
	m := &metadata{
		authorize: p.Endpoint().AuthURL, token: p.Endpoint().TokenURL, userinfo: p.UserInfoEndpoint(),
		issuerReturned: more.Issuer, read: time.Now(),
	}
	for name, address := range map[string]string{"authorization_endpoint": m.authorize, "token_endpoint": m.token,
		"jwks_uri": more.Keys, "userinfo_endpoint": m.userinfo} {
		if err := u.checkEndpoint(address); err != nil && (address != "" || name != "userinfo_endpoint") {
			return nil, u.trouble("", "its discovery document has a "+name+" that cannot be used: "+err.Error())
		}
	}
	basic := len(more.Auth) == 0 || slices.Contains(more.Auth, "client_secret_basic")
	if m.post = !basic; m.post && !slices.Contains(more.Auth, "client_secret_post") {
		return nil, u.trouble("",
			"wants another authentication of applications than client_secret_basic and client_secret_post")
	}
	if len(more.Algs) > 0 && !slices.ContainsFunc(more.Algs, func(a string) bool { return slices.Contains(algs, a) }) {
		return nil, u.trouble("", "signs id_tokens by none of "+strings.Join(algs,
			", ")+"; configure one of them for the application there")
	}
	if u.keys == nil || u.keysAt != more.Keys {
		u.keys, u.keysAt = oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), u.gated), more.Keys), more.Keys
	}
	m.verifier = oidc.NewVerifier(u.Issuer, u.keys, &oidc.Config{ClientID: u.ClientID, SupportedSigningAlgs: algs})
	return m, nil
}

// checkEndpoint wants https, except of an issuer on this machine that has none itself.
func (u *upstream) checkEndpoint(address string) error {
	at, err := netguard.CheckURL(address)
	if err == nil && at.Scheme == "http" && !strings.HasPrefix(u.Issuer, "http:") {
		return errors.New("it must be https, as the issuer is")
	}
	return err
}

// trouble returns an error for the operator. Its text holds no secret.
func (u *upstream) trouble(code, text string) *connector.Trouble {
	return connector.NewTrouble(u.Config.Name, code, text, nil)
}
