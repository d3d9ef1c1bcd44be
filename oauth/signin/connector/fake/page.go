package fake

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/internal/reply"
)

//go:embed page.html
var pageText string

//go:embed page.css
var styleText string

// style is without carriage returns whatever a checkout has put there: browsers drop them
// before they take the digest.
var (
	style        = strings.ReplaceAll(styleText, "\r", "")
	styleDigest  = sha256.Sum256([]byte(style))
	pageTemplate = page.Lazily(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })
	// The policy has no form-action: browsers would hold it against the place that the sign-in leads to in the end,
	// which may be a program.
	policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(styleDigest[:]) +
		"'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
)

// authorization describes the authorization endpoint of one provider.
type authorization struct {
	provider string
	idParam  string
	id       string
	scope    string
	typed    bool     // response_type=code is required
	code     string   // the name of the parameter with the code
	denial   []string // the parameters beside the state after a denial
	fixed    []string // the parameter and its value that the request must have too, or none
}

var (
	wxPage     = authorization{"wx", "appid", wxID, "snsapi_login", true, "code", nil, nil}
	qqPage     = authorization{"qq", "client_id", qqID, "get_user_info", true, "code", []string{"usercancel", "1"}, nil}
	alipayPage = authorization{"alipay", "app_id", alipayID, "auth_user", false, "auth_code", nil, nil}
	douyinPage = authorization{"douyin", "client_key", douyinID, "user_info", true, "code", nil, nil}
	feishuPage = authorization{"feishu", "client_id", feishuID, "", true, "code", []string{"error", "access_denied"}, nil}
	wecomPage  = authorization{"wecom", "appid", wecomID, "", false, "code", nil, []string{"login_type", "CorpApp"}}
	wecomInApp = authorization{"wecom", "appid", wecomID, "snsapi_base", true, "code", nil,
		[]string{"agentid", wecomAgent}}
	dingPage = authorization{"dingtalk", "client_id", dingtalkID, "openid", true, "authCode",
		[]string{"error", "access_denied"}, nil}
	oidcPage = authorization{"oidc", "client_id", oidcID, "openid profile", true, "code",
		[]string{"error", "access_denied"}, nil}
	githubPage = authorization{"github", "client_id", githubID, "", false, "code", []string{"error", "access_denied"}, nil}
)

const (
	maxForm = 64 << 10 // bytes
	nobody  = "nobody" // the choice that denies access
)

// view holds the data of the page.
type view struct {
	Title, Provider, Problem string
	Action, Query, Nobody    string
	Style                    template.CSS
	Users                    []testUser
}

// page shows the test users, and redirects back with the choice.
func (f *Fake) page(a authorization) reply.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method == http.MethodPost {
			return f.choose(w, r, a)
		}
		if _, err := f.request(a, r.URL.RawQuery); err != nil {
			return err
		}
		return write(w, http.StatusOK, view{
			Title: "A made-up " + a.provider, Provider: a.provider, Action: r.URL.Path, Query: r.URL.RawQuery,
			Users: testUsersAt(a.provider), Nobody: nobody,
		})
	}
}

func (f *Fake) choose(w http.ResponseWriter, r *http.Request, a authorization) error {
	if err := f.sameOrigin.Check(r); err != nil {
		return refusal("The choice came from another site. Go back to the application and start again.")
	}
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	request, err := f.request(a, form.Get("query"))
	if err != nil {
		return err
	}
	back, state := request.Get("redirect_uri"), request.Get("state")
	if form.Get("person") == nobody {
		answer := append(slices.Clone(a.denial), "state", state)
		if a.provider == "oidc" {
			answer = append(answer, f.namesItself(form.Get("fault"))...)
		}
		return reply.Found(w, reply.WithQuery(back, answer...))
	}
	user, ok := testUserOf(form.Get("person"))
	if !ok || user.stranger && a.provider != "wecom" {
		return refusal("There is nobody of that name. Go back and choose one of the people on the page.")
	}
	fault := form.Get("fault")
	answer := []string{a.code, f.issuer.code(a.provider, user, back, asked(request, fault)), "state", state}
	switch a.provider {
	case "oidc":
		answer = append(answer, f.namesItself(fault)...)
	case "alipay":
		answer = append(answer, "app_id", alipayID, "scope", a.scope)
	case "douyin":
		answer = append(answer, "scopes", a.scope)
	}
	return reply.Found(w, reply.WithQuery(back, answer...))
}

var stateShape = pattern.Lazy(`^[A-Za-z0-9_-]{0,128}$`)

// request checks an authorization request. It refuses any redirect_uri but our own.
func (f *Fake) request(a authorization, raw string) (url.Values, error) {
	q, err := url.ParseQuery(raw)
	switch {
	case err != nil:
		return nil, refusal("The address is damaged. Go back to the application and start again.")
	case q.Get(a.idParam) != a.id:
		return nil, refusal(a.idParam + " is not the one of this fake: " + a.id + ".")
	case a.typed && q.Get("response_type") != "code":
		return nil, refusal("response_type must be code.")
	case len(a.fixed) == 2 && q.Get(a.fixed[0]) != a.fixed[1]:
		return nil, refusal(a.fixed[0] + " must be " + a.fixed[1] + ".")
	case q.Has("code_challenge") && q.Get("code_challenge_method") != "S256":
		return nil, refusal("code_challenge_method must be S256.")
	case !a.allows(q.Get("scope")):
		return nil, refusal("scope must be " + a.scope + ".")
	case (a.provider == "oidc" || a.provider == "github") && (len(q.Get("code_challenge")) != 43 ||
		q.Get("code_challenge_method") != "S256"):
		return nil, refusal("code_challenge must be there, by S256.")
	case !stateShape().MatchString(q.Get("state")):
		return nil, refusal("state must be at most 128 letters and digits.")
	case !f.isOurs(q.Get("redirect_uri")):
		return nil, refusal("redirect_uri must begin with " + f.base + "/.")
	}
	return q, nil
}

// allows reports whether a scope can be asked for: the one of the provider, or that and the email
// where there is one.
func (a authorization) allows(scope string) bool {
	switch a.provider {
	case "oidc":
		return scope == a.scope || scope == a.scope+" email" || scope == "openid"
	case "github":
		return scope == a.scope || scope == "user:email"
	}
	return scope == a.scope
}

// namesItself returns the iss of a return (RFC 9207).
func (f *Fake) namesItself(fault string) []string {
	switch fault {
	case "no-iss":
		return nil
	case "wrong-iss":
		return []string{"iss", "https://another.example"}
	}
	return []string{"iss", f.openIDIssuer()}
}

// isOurs reports whether an address is on our own origin. After the slash nothing can change the
// host any more.
func (f *Fake) isOurs(address string) bool {
	return strings.HasPrefix(address, f.base+"/") && len(address) <= 2048 &&
		!strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' || r == '#' })
}

func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if big := new(http.MaxBytesError); errors.As(err, &big) {
		return nil, &reply.Failure{Status: http.StatusRequestEntityTooLarge, Msg: "The form is too large."}
	}
	form, bad := url.ParseQuery(string(body))
	if err != nil || bad != nil {
		return nil, refusal("The form is damaged. Go back to the application and start again.")
	}
	return form, nil
}

// readJSON reads an object of texts.
func readJSON(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	members := map[string]string{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxForm)).Decode(&members); err != nil {
		return nil, refusal("The body is no JSON object of texts.")
	}
	q := url.Values{}
	for name, value := range members {
		q.Set(name, value)
	}
	return q, nil
}

func refusal(msg string) error { return &reply.Failure{Status: http.StatusBadRequest, Msg: msg} }

func failPage(w http.ResponseWriter, _ *http.Request, f *reply.Failure) {
	write(w, f.Status, view{Title: "This cannot go on", Problem: f.Msg})
}

func write(w http.ResponseWriter, status int, v view) error {
	v.Style = template.CSS(style)
	var text strings.Builder
	if err := pageTemplate.Execute(&text, v); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, text.String())
	return nil
}

// face serves the picture of a test user.
func (f *Fake) face(w http.ResponseWriter, r *http.Request) error {
	key, _ := strings.CutSuffix(r.PathValue("name"), ".svg")
	p, ok := testUserOf(key)
	if !ok {
		return &reply.Failure{Status: http.StatusNotFound, Msg: "There is no such picture."}
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" width="132" height="132"><rect width="40" height="40" fill="#%x"/><text x="20" y="27" font-size="20" text-anchor="middle" font-family="sans-serif" fill="#fff">%s</text></svg>`,
		shade(p), p.Letter())
	return err
}

// shade returns a colour that white is readable on.
func shade(p testUser) []byte {
	c := p.digest("", "colour")[:3]
	for i := range c {
		c[i] = 0x20 + c[i]%0x60
	}
	return c
}
