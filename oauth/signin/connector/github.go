package connector

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
	"github.com/keystile/keystile/storage"
)

// GitHub is the Config of GitHub's login, which is OAuth without OpenID Connect.
type GitHub struct {
	Name   string         // "": github
	Label  string         // "": GitHub
	ID     string         // required: Client ID, of an OAuth App or a GitHub App
	Secret storage.Secret // required: a client secret
	Client *http.Client   // nil: our own

	// Domains are those of whom to let in, by their primary address if GitHub has verified it.
	// nil: everybody. The addresses are asked for only if there are some.
	Domains []string

	TrustEmail bool // an address that GitHub has verified is a confirmed one here

	AuthorizeURL string // "": https://github.com/login/oauth/authorize
	TokenURL     string // "": https://github.com/login/oauth/access_token
	UserURL      string // "": https://api.github.com/user
	EmailsURL    string // "": https://api.github.com/user/emails
}

type github struct {
	*base
	label                            string
	authorize, tokens, users, emails string
	domains                          []string
	trust                            bool
	visits                           pkce.Deriver
}

// NewGitHub makes the connector to GitHub, or reports all errors of the Config.
func NewGitHub(c GitHub) (Connector, error) {
	k := check{name: cmp.Or(c.Name, "github")}
	g := &github{
		base:      newUpstream(k.name, k.id(c.ID), k.secret(c.Secret), c.Client, githubMeanings, githubFault),
		label:     cmp.Or(c.Label, "GitHub"),
		authorize: k.endpoint("AuthorizeURL", c.AuthorizeURL, "https://github.com/login/oauth/authorize"),
		tokens:    k.endpoint("TokenURL", c.TokenURL, "https://github.com/login/oauth/access_token"),
		users:     k.endpoint("UserURL", c.UserURL, "https://api.github.com/user"),
		emails:    k.endpoint("EmailsURL", c.EmailsURL, "https://api.github.com/user/emails"),
		domains:   c.Domains,
		trust:     c.TrustEmail,
	}
	for _, d := range c.Domains {
		if d == "" || d != strings.ToLower(d) || strings.ContainsAny(d, "@ *") {
			k.add("Domains: %q is none; write it like example.com", d)
		}
	}
	g.visits = pkce.New(c.Secret, g.tokens, c.ID)
	return k.made(g)
}

var githubMeanings = map[string]meaning{
	"bad_verification_code":        {err: ErrCode}, // used, expired, made up or of another visit
	"incorrect_client_credentials": {hint: "the ID or the Secret is wrong"},
	"redirect_uri_mismatch":        {hint: "register the return address at GitHub as it is"},
	"unverified_user_email":        {err: ErrStranger},
}

func githubFault(o object) (code, text string) { return o.fault("error"), o.text("error_description") }

func (g *github) Label() string { return g.label }

// Begin asks GitHub which account to take, which it asks for no password.
func (g *github) Begin(_ context.Context, v Visit) (string, error) {
	params := url.Values{
		"client_id": {g.id}, "redirect_uri": {v.Back}, "state": {v.State},
		"code_challenge": {pkce.Challenge(g.visits.Verifier(v.State))}, "code_challenge_method": {"S256"},
	}
	if len(g.domains) > 0 || v.Email {
		params.Set("scope", addresses)
	}
	if v.Login || v.SelectAccount {
		params.Set("prompt", "select_account")
	}
	if v.LoginHint != "" {
		params.Set("login", v.LoginHint)
	}
	return addParams(g.authorize, params), nil
}

func (g *github) Finish(ctx context.Context, back string, query url.Values) (Profile, error) {
	ctx, t, done, err := g.open(ctx, query, "code")
	if err != nil {
		return Profile{}, err
	}
	defer done()
	verifier := g.visits.Verifier(query.Get("state"))
	t.hide(verifier)
	tokens, err := t.object(t.post(ctx, g.tokens, url.Values{
		"client_id": {g.id}, "client_secret": {g.secret.Reveal()}, "code": {t.code}, "redirect_uri": {back},
		"code_verifier": {verifier},
	}, nil))
	if err != nil {
		return Profile{}, err
	}
	token, err := t.token(tokens)
	if err != nil {
		return Profile{}, err
	}
	user, err := t.object(g.ask(ctx, t, g.users, token))
	if err != nil {
		return Profile{}, err
	}
	address, err := g.admit(ctx, t, token, strings.Contains(tokens.text("scope"), addresses))
	if err != nil {
		return Profile{}, err
	}
	confirmed := ""
	if g.trust {
		confirmed = address
	}
	who := identity{union: user.text("id")} // the login is given to another person when it is free
	return t.profile(who, who, Profile{
		Nickname: cmp.Or(oneLine(user.text("name")), user.text("login")),
		Avatar:   pictureURL(user.text("avatar_url")),
		Location: oneLine(user.text("location")),
		Email:    address, ConfirmedEmail: confirmed,
	})
}

// addresses is the scope that lets an application read a user's addresses.
const addresses = "user:email"

// ask sends a request with the user's token.
func (g *github) ask(ctx context.Context, t *exchange, endpoint, token string) (response, error) {
	return t.get(ctx, endpoint, nil, http.Header{"Authorization": {"Bearer " + token},
		"X-Github-Api-Version": {"2022-11-28"}})
}

// admit returns the user's primary address, if GitHub has verified it and may tell it. It refuses users whose address
// is in none of the domains, if there are some.
func (g *github) admit(ctx context.Context, t *exchange, token string, told bool) (address string, err error) {
	decides := len(g.domains) > 0
	if !decides && !told {
		return "", nil
	}
	var list object
	answer, err := g.ask(ctx, t, g.emails, token)
	if err == nil {
		list, err = t.parse(answer, parseEmails, githubFault)
	}
	if !decides {
		err = t.show(err)
	}
	if err != nil {
		return "", err
	}
	address = strings.ToLower(list.text("primary"))
	if at := strings.LastIndexByte(address, '@'); decides && (at < 1 || !slices.Contains(g.domains, address[at+1:])) {
		return "", fmt.Errorf("%s: %w", g.name, ErrStranger)
	}
	return address, nil
}

// parseEmails reads a list of addresses as an object with the primary one, if it is verified.
func parseEmails(body []byte) (object, bool) {
	var list []object
	if json.Unmarshal(body, &list) != nil {
		return parseObject(body) // an error
	}
	for _, o := range list {
		if string(o["primary"]) == "true" && string(o["verified"]) == "true" {
			return object{"primary": o["email"]}, true
		}
	}
	return object{}, true
}
