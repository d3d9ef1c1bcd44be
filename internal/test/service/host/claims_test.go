package host

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/event"
)

// Claims of an operator and of a host reach applications, and those that a host must not add are on the trail.
func TestClaimsOfAHostAreInWhatApplicationsLearn(t *testing.T) {
	c, said := newConfig()
	c.OAuth.ClaimRules = []claim.Rule{{Claim: "department", From: "attribute:dept"}}
	c.OAuth.Claims = func(_ context.Context, r oauth.ClaimsRequest) (map[string]any, error) {
		return map[string]any{"seats": len(r.User.Username), "email_verified": true}, nil
	}
	service := start(t, c)
	_, err := users.New(service.Store, c.SignIn.Passwords).Create(t.Context(), storage.User{Username: "ada",
		Attributes: map[string]string{"dept": "Engines"}}, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	app, err := service.Store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		FirstParty: true})
	if err != nil {
		t.Fatal(err)
	}
	cookie := ask(service, "POST", "/oauth/signin", "username=ada&password=correct+horse+battery", "Origin", base).
		Header().Get("Set-Cookie")
	const back = "https://app.example.com/cb"
	query := url.Values{"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {back},
		"scope": {"openid email"}}
	to, err := url.Parse(ask(service, "GET", "/oauth/authorize?"+query.Encode(), "", "Cookie", cookie).
		Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	w := ask(service, "POST", "/oauth/token", url.Values{"grant_type": {"authorization_code"},
		"code": {to.Query().Get("code")}, "redirect_uri": {back}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}}.Encode())
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &tokens); err != nil || w.Code != 200 {
		t.Fatalf("token = %d %s, %v", w.Code, w.Body, err)
	}
	got := ask(service, "GET", "/oauth/userinfo", "", "Authorization", "Bearer "+tokens.Access).Body.String()
	if !strings.Contains(got, `"email_verified":false,`) || strings.Count(got, "email_verified") != 1 ||
		!strings.HasSuffix(got, `,"department":"Engines","seats":3}`) {
		t.Errorf("userinfo = %s", got)
	}
	if err := service.Trail.NoteNow(t.Context(), event.Event{Kind: event.Admin}); err != nil { // all before it is stored
		t.Fatal(err)
	}
	page, err := service.Trail.Search(t.Context(), event.Query{Kind: event.Token, App: app.ID})
	if err != nil {
		t.Fatal(err)
	}
	noted := 0
	for _, e := range page.Entries {
		if strings.HasPrefix(e.Detail, event.DetailClaims) && strings.HasSuffix(e.Detail, `: ["email_verified"]`) {
			noted++
		}
	}
	if noted != 2 || !strings.Contains(said.String(), "claims of the host were left out") {
		t.Errorf("it is noted %d times, want of the id_token and of userinfo: %+v", noted, page.Entries)
	}
}
