package oidc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/internal/legible"
	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
)

const maxCode = 4096 // bytes; those of Entra have more than 1 KiB

// Begin implements connector.Connector.
func (u *upstream) Begin(ctx context.Context, v connector.Visit) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	m, err := u.metadata(ctx)
	if err != nil {
		return "", err
	}
	params := url.Values{
		"response_type": {"code"}, "client_id": {u.ClientID}, "redirect_uri": {v.Back},
		"scope": {strings.Join(u.scopes(v.Asked), " ")},
		"state": {v.State}, "nonce": {u.visits.Nonce(v.State)},
		"code_challenge": {pkce.Challenge(u.visits.Verifier(v.State))}, "code_challenge_method": {"S256"},
	}
	u.ask(params, v.Asked)
	return addParams(m.authorize, params), nil
}

// scopes returns what to ask for: the address only where a person wants it.
func (u *upstream) scopes(a connector.Asked) []string {
	if a.Email && !slices.Contains(u.Scopes, "email") {
		return append(slices.Clone(u.Scopes), "email")
	}
	return u.Scopes
}

// loginAge is the age that a proof may have where prompt=login asks for a new one: with a max_age a provider has to say
// when it was (OpenID Connect Core 3.1.2.1), and 0 makes some of them ask for ever.
const loginAge = 5 * time.Minute

// ask adds the parameters for what is asked of a sign-in. Google knows no prompt=login, and refuses it.
func (u *upstream) ask(params url.Values, a connector.Asked) {
	var prompts []string
	if a.Login && u.Issuer != Google {
		prompts = append(prompts, "login")
	}
	if a.SelectAccount || a.Login && u.Issuer == Google {
		prompts = append(prompts, "select_account")
	}
	age := a.MaxAge
	if a.Login && (age == 0 || age > loginAge) {
		age = loginAge
	}
	if age > 0 {
		params.Set("max_age", strconv.FormatInt(int64(age/time.Second), 10))
	}
	for name, value := range map[string]string{"prompt": strings.Join(prompts, " "), "login_hint": a.LoginHint,
		"ui_locales": a.UILocales} {
		if value != "" {
			params.Set(name, value)
		}
	}
}

func addParams(endpoint string, params url.Values) string {
	glue := "?"
	if strings.Contains(endpoint, "?") {
		glue = "&"
	}
	return endpoint + glue + params.Encode()
}

// Finish implements connector.Connector.
func (u *upstream) Finish(ctx context.Context, back string, query url.Values) (connector.Profile, error) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	m, err := u.metadata(ctx)
	if err != nil {
		return connector.Profile{}, err
	}
	v, err := u.arrive(m, query)
	if err != nil {
		return connector.Profile{}, err
	}
	t, err := v.redeem(ctx, back)
	if err != nil {
		return connector.Profile{}, err
	}
	c, err := v.identify(ctx, t)
	if err != nil {
		return connector.Profile{}, err
	}
	return v.profile(ctx, t, c)
}

// visit is a browser that has come back with a code.
type visit struct {
	*upstream
	*metadata
	code, state string
	hidden      []string // what errors must not quote
}

// arrive reads the return. The issuer is checked first: an answer of another issuer, even one that
// access was denied, is not for this provider (RFC 9207).
func (u *upstream) arrive(m *metadata, query url.Values) (*visit, error) {
	if all := query["iss"]; len(all) > 1 || len(all) == 1 && all[0] != u.Issuer {
		return nil, u.trouble("", "the browser comes from another issuer")
	} else if m.issuerReturned && len(all) == 0 {
		return nil, u.trouble("", "the browser brings no iss, which the provider has announced")
	}
	codes, states := query["code"], query["state"]
	switch problem := query.Get("error"); {
	case problem == "access_denied":
		return nil, fmt.Errorf("%s: %w", u.Config.Name, connector.ErrDenied)
	case problem != "":
		return nil, u.trouble(problem, "sent the browser back: "+query.Get("error_description"))
	case len(codes) != 1 || codes[0] == "" || len(codes[0]) > maxCode || len(states) != 1 || states[0] == "":
		return nil, fmt.Errorf("%s: the browser brought no code that could be one: %w", u.Config.Name, connector.ErrCode)
	}
	v := &visit{upstream: u, metadata: m, code: codes[0], state: states[0]}
	v.hide(v.code, u.ClientSecret.Reveal(), u.visits.Verifier(v.state))
	return v, nil
}

// hide keeps secrets out of errors. Very short ones would match by chance.
func (v *visit) hide(secrets ...string) {
	for _, s := range secrets {
		if len(s) >= 6 {
			v.hidden = append(v.hidden, s, "[secret]", url.QueryEscape(s), "[secret]")
		}
	}
}

func (v *visit) trouble(code, text string) *connector.Trouble {
	redact := strings.NewReplacer(v.hidden...)
	return v.upstream.trouble(redact.Replace(code), redact.Replace(text))
}

// unreachable returns the error for a request without an answer. The addresses that a *url.Error
// quotes are left out.
func (u *upstream) unreachable(err error) *connector.Trouble {
	hint := ""
	if refused := (*netguard.Refused)(nil); errors.As(err, &refused) {
		hint = " (it is private; if you mean it, name it in allow_private)"
	}
	text := err.Error()
	if quoting := new(url.Error); errors.As(err, &quoting) {
		text = quoting.Err.Error()
	}
	return connector.NewTrouble(u.Config.Name, "", "could not be asked: "+text+hint, err)
}

// tokens holds what counts of an answer of the token endpoint.
type tokens struct{ access, kind, id, scope string }

func (v *visit) redeem(ctx context.Context, back string) (tokens, error) {
	form := url.Values{
		"grant_type": {"authorization_code"}, "code": {v.code}, "redirect_uri": {back},
		"code_verifier": {v.visits.Verifier(v.state)},
	}
	if v.post {
		form.Set("client_id", v.ClientID)
		form.Set("client_secret", v.ClientSecret.Reveal())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.token, strings.NewReader(form.Encode()))
	if err != nil {
		return tokens{}, v.trouble("", "its token_endpoint cannot be asked")
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if !v.post {
		r.SetBasicAuth(url.QueryEscape(v.ClientID), url.QueryEscape(v.ClientSecret.Reveal())) // RFC 6749, section 2.3.1
	}
	var c claims // a member of another type than it should have is missing
	status, err := v.request(r, &c)
	t := tokens{c.text("access_token"), c.text("token_type"), c.text("id_token"), c.text("scope")}
	wrong, why := c.text("error"), c.text("error_description")
	v.hide(t.access, c.text("refresh_token"), t.id)
	switch {
	case wrong == "invalid_grant":
		return t, fmt.Errorf("%s: %w", v.Config.Name, connector.ErrCode)
	case wrong == "invalid_client":
		return t, v.trouble(wrong, why+" (the id or the secret is wrong)")
	case wrong != "":
		return t, v.trouble(wrong, why)
	case status != http.StatusOK && status != 0:
		return t, v.status(status)
	case err != nil:
		return t, err
	case t.id == "":
		return t, v.trouble("", "answered without an id_token; is the scope openid allowed for the application?")
	}
	return t, nil
}

// request sends a request, and reads an answer that is a JSON object. The status is 0 if there was none.
func (v *visit) request(r *http.Request, into *claims) (status int, err error) {
	r.Header.Set("Accept", "application/json")
	resp, err := v.client.Do(r)
	if err != nil {
		return 0, v.unreachable(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, v.unreachable(err)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	body = bytes.TrimPrefix(legible.Text(body), []byte("\xef\xbb\xbf"))
	if err := json.Unmarshal(body, into); err != nil || kind == "application/jwt" {
		return resp.StatusCode, v.trouble("", "answered what cannot be read")
	}
	return resp.StatusCode, nil
}

func (v *visit) status(status int) *connector.Trouble {
	return v.trouble("http "+strconv.Itoa(status), "answered "+strings.ToLower(http.StatusText(status)))
}
