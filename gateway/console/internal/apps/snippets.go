package apps

import (
	"fmt"
	"strconv"
	"strings"
)

// snippet is code that signs users in to an application with a library.
type snippet struct {
	Title string `json:"title"`
	Code  string `json:"code"`
}

// placeholder stands where the secret belongs.
const placeholder = "YOUR_CLIENT_SECRET"

// snippets returns code for several libraries. No value can end the literal that it stands in.
func (s *Apps) snippets(a appRecord) []snippet {
	back := "https://app.example.com/callback"
	switch {
	case len(a.RedirectURIs) > 0:
		back = a.RedirectURIs[0]
	case len(a.Domains) > 0:
		back = "https://" + a.Domains[0] + "/callback"
	}
	return snippetsOf(s.c.BaseURL, a.ClientID, back)
}

func snippetsOf(base, id, back string) []snippet {
	fill := func(text string, quote func(string) string) string {
		return strings.NewReplacer("BASE", quote(base), "CLIENT", quote(id), "BACK", quote(back), "SECRET", quote(placeholder)).Replace(text)
	}
	shell := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	php := func(text string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
	}
	return []snippet{
		{"curl", fill(curlCode, shell)},
		{"Go: golang.org/x/oauth2, go-oidc", fill(goCode, strconv.QuoteToASCII)},
		{"Node: openid-client", fill(nodeCode, literal(`\u{%x}`))},
		{"Python: Authlib", fill(pythonCode, literal(`\U%08x`))},
		{"Java: Spring Boot, application.yml", fill(springCode, literal(`\U%08x`))},
		{"PHP: league/oauth2-client", fill(phpCode, php)},
	}
}

// literal returns a function that writes a text between double quotes, all but plain characters
// as escapes of a language.
func literal(escape string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		out.WriteByte('"')
		for _, c := range text {
			if c <= '~' && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#[]@!&()*+,;=%", c) {
				out.WriteRune(c)
			} else {
				fmt.Fprintf(&out, escape, c)
			}
		}
		return out.String() + `"`
	}
}

const curlCode = `# 1. Send the user's browser to authorize with the S256 challenge of a random verifier.
verifier=$(openssl rand -hex 32)
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | openssl base64 -A | tr '+/' '-_' | tr -d '=')
curl -G BASE/oauth/authorize -d response_type=code -d scope=openid \
  --data-urlencode client_id=CLIENT --data-urlencode redirect_uri=BACK \
  --data-urlencode "code_challenge=$challenge" -d code_challenge_method=S256 -d state="$(openssl rand -hex 16)"
# 2. Exchange the code that comes back.
curl BASE/oauth/token -d grant_type=authorization_code --data-urlencode "code=$code" \
  --data-urlencode client_id=CLIENT --data-urlencode client_secret=SECRET \
  --data-urlencode redirect_uri=BACK --data-urlencode "code_verifier=$verifier"
`

const goCode = `package main

import (
	"context"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

func config(ctx context.Context) (*oauth2.Config, error) {
	provider, err := oidc.NewProvider(ctx, BASE)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{
		ClientID:     CLIENT,
		ClientSecret: SECRET,
		RedirectURL:  BACK,
		Endpoint:     provider.Endpoint(),
		Scopes:       []string{oidc.ScopeOpenID, "profile"},
	}, nil
}

// signIn returns where the browser goes; keep verifier and state in the session.
func signIn(c *oauth2.Config, state, verifier string) string {
	return c.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
}

func exchange(ctx context.Context, c *oauth2.Config, code, verifier string) (*oauth2.Token, error) {
	return c.Exchange(ctx, code, oauth2.VerifierOption(verifier))
}
`

const nodeCode = `import * as client from "openid-client";

const config = await client.discovery(new URL(BASE), CLIENT, SECRET);
const verifier = client.randomPKCECodeVerifier(); // keep it in the session
const state = client.randomState();
const to = client.buildAuthorizationUrl(config, {
  redirect_uri: BACK,
  scope: "openid profile",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
  state,
});
// When the browser is back:
// await client.authorizationCodeGrant(config, currentUrl, { pkceCodeVerifier: verifier, expectedState: state });
`

const pythonCode = `from authlib.integrations.requests_client import OAuth2Session
from authlib.common.security import generate_token

base = BASE
client = OAuth2Session(
    CLIENT,
    SECRET,
    redirect_uri=BACK,
    scope="openid profile",
    code_challenge_method="S256",
)
verifier = generate_token(48)  # keep it in the session
url, state = client.create_authorization_url(base + "/oauth/authorize", code_verifier=verifier)
# When the browser is back:
# token = client.fetch_token(base + "/oauth/token", authorization_response=current_url, code_verifier=verifier)
`

const springCode = `spring:
  security:
    oauth2:
      client:
        registration:
          keystile:
            client-id: CLIENT
            client-secret: SECRET
            redirect-uri: BACK
            authorization-grant-type: authorization_code
            scope: openid,profile
        provider:
          keystile:
            issuer-uri: BASE
`

const phpCode = `<?php
$base = BASE;
$provider = new League\OAuth2\Client\Provider\GenericProvider([
    'clientId' => CLIENT,
    'clientSecret' => SECRET,
    'redirectUri' => BACK,
    'urlAuthorize' => $base . '/oauth/authorize',
    'urlAccessToken' => $base . '/oauth/token',
    'urlResourceOwnerDetails' => $base . '/oauth/userinfo',
    'pkceMethod' => 'S256',
]);
$url = $provider->getAuthorizationUrl(['scope' => 'openid profile']);
$_SESSION['state'] = $provider->getState();
$_SESSION['verifier'] = $provider->getPkceCode();
header('Location: ' . $url);
`
