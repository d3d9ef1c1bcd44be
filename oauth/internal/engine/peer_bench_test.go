package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/openid"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

// BenchmarkNaiveFosite is the peer of our own code flow: fosite as its documentation shows
// it, everything in memory, one user who is always signed in. With KEYSTILE_PEER in the
// environment it serves until it is killed instead; internal/test/campaigns/bench runs it so, because only
// this folder may import fosite.
func BenchmarkNaiveFosite(b *testing.B) {
	p := newPeer(b)
	if os.Getenv("KEYSTILE_PEER") != "" {
		p.serve(b)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.code(b)
	}
}

const (
	peerSecret   = "a-secret-that-is-long-enough-for-this"
	peerRedirect = "http://127.0.0.1/cb"
	peerVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)

type peer struct{ fosite.OAuth2Provider }

func newPeer(b *testing.B) peer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	hash, _ := sha256Hasher{}.Hash(b.Context(), []byte(peerSecret))
	store := storage.NewMemoryStore()
	store.Clients["peer"] = &fosite.DefaultClient{
		ID: "peer", Secret: hash, RedirectURIs: []string{peerRedirect}, ResponseTypes: []string{"code"},
		GrantTypes: []string{"authorization_code", "refresh_token"}, Scopes: []string{"openid", "profile"},
	}
	config := &fosite.Config{
		GlobalSecret: []byte(peerSecret)[:32], IDTokenIssuer: "http://127.0.0.1:9",
		RefreshTokenScopes: []string{}, ClientSecretsHasher: sha256Hasher{}, // bcrypt would be all that is measured
	}
	return peer{compose.ComposeAllEnabled(config, store, key)}
}

func (p peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/authorize":
		p.authorize(r.Context(), w, r)
	case "/token":
		p.token(r.Context(), w, r)
	default:
		http.NotFound(w, r)
	}
}

func (p peer) authorize(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	request, err := p.NewAuthorizeRequest(ctx, r)
	if err != nil {
		p.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	for _, scope := range request.GetRequestedScopes() {
		request.GrantScope(scope)
	}
	response, err := p.NewAuthorizeResponse(ctx, request, newPeerSession())
	if err != nil {
		p.WriteAuthorizeError(ctx, w, request, err)
		return
	}
	p.WriteAuthorizeResponse(ctx, w, request, response)
}

func (p peer) token(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	request, err := p.NewAccessRequest(ctx, r, newPeerSession())
	if err != nil {
		p.WriteAccessError(ctx, w, request, err)
		return
	}
	response, err := p.NewAccessResponse(ctx, request)
	if err != nil {
		p.WriteAccessError(ctx, w, request, err)
		return
	}
	p.WriteAccessResponse(ctx, w, request, response)
}

func newPeerSession() *openid.DefaultSession {
	return &openid.DefaultSession{
		Claims:  &jwt.IDTokenClaims{Subject: "ada", AuthTime: time.Now(), RequestedAt: time.Now()},
		Headers: &jwt.Headers{}, Subject: "ada", Username: "ada",
	}
}

func (p peer) serve(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	fmt.Println("\npeer at " + l.Addr().String())
	ballast := make([]byte, 24<<20) // like that of the service which it is measured beside
	defer runtime.KeepAlive(ballast)
	b.Fatal(http.Serve(l, p))
}

// code is one code flow with PKCE.
func (p peer) code(b *testing.B) {
	sum := sha256.Sum256([]byte(peerVerifier))
	query := url.Values{
		"response_type": {"code"}, "client_id": {"peer"}, "redirect_uri": {peerRedirect}, "scope": {"openid profile"},
		"state":          {"some-state"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest("GET", "/authorize?"+query.Encode(), nil))
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || to.Query().Get("code") == "" {
		b.Fatalf("authorize = %d %v %s", w.Code, w.Header(), w.Body)
	}
	form := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {"peer"}, "client_secret": {peerSecret},
		"code": {to.Query().Get("code")}, "redirect_uri": {peerRedirect}, "code_verifier": {peerVerifier},
	}
	r := httptest.NewRequest("POST", "/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w = httptest.NewRecorder()
	if p.ServeHTTP(w, r); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "id_token") {
		b.Fatalf("token = %d %s", w.Code, w.Body)
	}
}

// sha256Hasher gives the peer what secrets of 256 bits allow.
type sha256Hasher struct{}

func (sha256Hasher) Hash(_ context.Context, data []byte) ([]byte, error) {
	sum := sha256.Sum256(data)
	return sum[:], nil
}

func (h sha256Hasher) Compare(ctx context.Context, hash, data []byte) error {
	sum, _ := h.Hash(ctx, data)
	if subtle.ConstantTimeCompare(hash, sum) != 1 {
		return errors.New("wrong secret")
	}
	return nil
}
