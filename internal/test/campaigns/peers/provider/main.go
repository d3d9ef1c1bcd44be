// Command provider is another OpenID provider in Go, github.com/luikyv/go-oidc, with everything in memory. The
// benchmark measures it beside Keystile. It is a module of its own, so that nobody who imports Keystile
// gets what it needs.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"

	"github.com/luikyv/go-oidc/pkg/goidc"
	"github.com/luikyv/go-oidc/pkg/provider"
)

// secret belongs to its one application, "peer".
const secret = "a-secret-that-is-long-enough-for-this"

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

func serve() error {
	h, err := handler()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("provider at", l.Addr())
	ballast := make([]byte, 24<<20) // like that of the service which it is measured beside
	defer runtime.KeepAlive(ballast)
	return http.Serve(l, h)
}

// handler returns the provider, with its one application and a new key.
func handler() (http.Handler, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	keys := goidc.JSONWebKeySet{Keys: []goidc.JSONWebKey{{KeyID: "k", Key: key, Algorithm: string(goidc.ES256),
		Use: "sig"}}}
	scope := goidc.NewScope("app")
	op, err := provider.New("http://127.0.0.1:9", nil,
		func(context.Context) (goidc.JSONWebKeySet, error) { return keys, nil },
		provider.WithScopes(goidc.ScopeOpenID, scope),
		provider.WithIDTokenSignatureAlgs(goidc.ES256),
		provider.WithTokenAuthnMethods(goidc.AuthnMethodSecretPost),
		provider.WithClientCredentialsGrant(),
		provider.WithTokenOptions(func(context.Context, *goidc.Grant, *goidc.Client) goidc.TokenOptions {
			return goidc.NewJWTTokenOptions(goidc.ES256, 604_800)
		}),
		provider.WithStaticClients(&goidc.Client{ID: "peer", Secret: secret, ClientMeta: goidc.ClientMeta{
			GrantTypes: []goidc.GrantType{goidc.GrantClientCredentials}, ScopeIDs: "app",
			TokenAuthnMethod: goidc.AuthnMethodSecretPost,
		}}),
	)
	if err != nil {
		return nil, err
	}
	return op.Handler(), nil
}
