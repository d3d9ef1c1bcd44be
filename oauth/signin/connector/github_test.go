package connector

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector/internal/pkce"
	"github.com/keystile/keystile/storage"
)

const (
	githubTokenPath  = "/login/oauth/access_token"
	githubUserPath   = "/user"
	githubEmailsPath = "/user/emails"
	githubUserOK     = `{"login":"octocat","id":583231,"name":"The Octocat","avatar_url":"https://avatars.githubusercontent.com/u/583231?v=4","location":"San Francisco","email":"victim@corp.example"}`
)

func newGitHub(t *testing.T, domains []string, answers map[string][]cannedResponse) (Connector, *cannedProvider) {
	t.Helper()
	s := &cannedProvider{answers: answers}
	c, err := NewGitHub(GitHub{ID: "Iv1.0123", Secret: storage.NewSecret(secret), Client: &http.Client{Transport: s},
		Domains: domains})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func githubAnswers(user, emails string) map[string][]cannedResponse {
	return map[string][]cannedResponse{
		githubTokenPath: {ok(`{"access_token":"gho_0123456789","token_type":"bearer","scope":""}`)}, githubUserPath: {ok(user)}, githubEmailsPath: {ok(emails)},
	}
}

func TestGitHubKnowsUsersByTheNumberThatIsNeverReused(t *testing.T) {
	c, s := newGitHub(t, nil, githubAnswers(githubUserOK, ""))
	got, err := c.Finish(t.Context(), back, returned("github"))
	want := Profile{Subjects: []string{"u:583231"}, Nickname: "The Octocat",
		Avatar: "https://avatars.githubusercontent.com/u/583231?v=4", Location: "San Francisco"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Finish = %+v, %v; want %+v", got, err, want)
	}
	if len(s.requests) != 2 {
		t.Fatalf("%d requests: nobody has asked for addresses", len(s.requests))
	}
	at, err := url.Parse(begun(c, Visit{State: state, Back: back}))
	if err != nil || at.Query().Has("scope") ||
		at.Query().Get("code_challenge") != pkce.Challenge(s.requests[0].Form.Get("code_verifier")) ||
		at.Query().Get("code_challenge_method") != "S256" {
		t.Errorf("the browser leaves for %s, and the code with %v", at, s.requests[0].Form)
	}
	if auth := s.requests[1].Header.Get("Authorization"); auth != "Bearer gho_0123456789" ||
		s.requests[1].URL.RawQuery != "" {
		t.Errorf("the token is at %q, %q", auth, s.requests[1].URL)
	}
	if s.requests[0].Form.Get("redirect_uri") != back {
		t.Errorf("redirect_uri %q", s.requests[0].Form.Get("redirect_uri"))
	}
}

func TestGitHubLetsInByThePrimaryAddressIfItIsVerified(t *testing.T) {
	for emails, in := range map[string]bool{
		`[{"email":"a@other.example","primary":false,"verified":true},{"email":"A@Corp.example","primary":true,"verified":true}]`: true,
		`[{"email":"a@corp.example","primary":true,"verified":false}]`:                                                            false,
		`[{"email":"a@corp.example","primary":false,"verified":true},{"email":"a@b.example","primary":true,"verified":true}]`:     false,
		`[{"email":"a@corp.example@b.example","primary":true,"verified":true}]`:                                                   false,
		`[{"email":"corp.example","primary":true,"verified":true}]`:                                                               false,
		`[{"email":"a@corp.example","primary":"true","verified":"true"}]`:                                                         false,
		`[]`: false,
	} {
		c, _ := newGitHub(t, []string{"corp.example"}, githubAnswers(githubUserOK, emails))
		got, err := c.Finish(t.Context(), back, returned("github"))
		if in != (err == nil) || !in && (!errors.Is(err, ErrStranger) || len(got.Subjects) > 0) {
			t.Errorf("%s: %+v, %v", emails, got, err)
		}
	}
	c, _ := newGitHub(t, []string{"corp.example"}, nil)
	at, err := url.Parse(begun(c, Visit{State: state, Back: back}))
	if err != nil || at.Query().Get("scope") != "user:email" {
		t.Errorf("the browser leaves for %s", at)
	}
}

// The addresses are asked for where an application asks, and are for show then.
func TestGitHubTellsTheAddressToWhoAsksForIt(t *testing.T) {
	const addresses = `[{"email":"Octo@Corp.example","primary":true,"verified":true}]`
	for _, row := range []struct {
		scope, emails    string
		trust            bool
		email, confirmed string
		unread           bool
	}{
		{"", addresses, true, "", "", false}, {"user:email", addresses, false, "octo@corp.example", "", false},
		{"user:email", addresses, true, "octo@corp.example", "octo@corp.example", false},
		{"read:user,user:email", "<html>", true, "", "", true},
		{"user:email", `[{"email":"octo@corp.example","primary":true,"verified":false}]`, true, "", "", false},
	} {
		answers := githubAnswers(githubUserOK, row.emails)
		answers[githubTokenPath][0].body = strings.Replace(answers[githubTokenPath][0].body, `"scope":""`,
			`"scope":"`+row.scope+`"`, 1)
		c, err := NewGitHub(GitHub{ID: "Iv1.0123456789abcdef", Secret: storage.NewSecret(secret), TrustEmail: row.trust,
			Client: &http.Client{Transport: &cannedProvider{answers: answers}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := c.Finish(t.Context(), back, returned("github"))
		if err != nil || p.Email != row.email || p.ConfirmedEmail != row.confirmed || (p.Unread != "") != row.unread ||
			len(p.Subjects) != 1 {
			t.Errorf("%+v: %+v, %v", row, p, err)
		}
		at, err := url.Parse(begun(c, Visit{State: state, Back: back, Asked: Asked{Email: true}}))
		if err != nil || at.Query().Get("scope") != "user:email" {
			t.Errorf("the browser leaves for %s", at)
		}
	}
}

func TestGitHubsErrorsAreUnderstood(t *testing.T) {
	for body, want := range map[string]error{
		`{"error":"bad_verification_code","error_description":"The code passed is incorrect or expired."}`: ErrCode,
		`{"error":"incorrect_client_credentials","error_description":"` + secret + `"}`:                    nil,
		`{"access_token":""}`: nil,
		`{}`:                  nil,
	} {
		c, _ := newGitHub(t, nil, map[string][]cannedResponse{githubTokenPath: {ok(body)}})
		_, err := c.Finish(t.Context(), back, returned("github"))
		if trouble := (*Trouble)(nil); want != nil && !errors.Is(err, want) || want == nil && !errors.As(err, &trouble) ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, user := range []string{`{}`, `{"id":null,"login":"octocat"}`, `{"id":"","login":"octocat"}`, `[]`} {
		c, _ := newGitHub(t, nil, githubAnswers(user, ""))
		if p, err := c.Finish(t.Context(), back, returned("github")); !errors.As(err, new(*Trouble)) || len(p.Subjects) > 0 {
			t.Errorf("a user %s: %+v, %v", user, p, err)
		}
	}
	if _, err := NewGitHub(GitHub{Domains: []string{"@corp.example"}}); err == nil ||
		strings.Count(err.Error(), "connector github: ") != 3 {
		t.Errorf("NewGitHub = %v, want all three mistakes", err)
	}
}

func TestConnectorOfAHostHasItsResultsTidied(t *testing.T) {
	got := Profile{Nickname: " a\n\u202eb ", Avatar: "javascript:alert(1)", Gender: "other", Location: "x\x00y"}.Tidy()
	if want := (Profile{Nickname: "ab", Location: "xy"}); !reflect.DeepEqual(got, want) {
		t.Errorf("Tidy = %+v, want %+v", got, want)
	}
	trouble := NewTrouble("x", "a\nb", "c\nd", context.DeadlineExceeded)
	if trouble.Error() != "x: ab: cd" || !errors.Is(trouble, context.DeadlineExceeded) ||
		errors.Unwrap(NewTrouble("x", "", "y", errors.New("https://secret"))) != nil {
		t.Errorf("NewTrouble = %q", trouble)
	}
}
