package legacy_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// strict makes the fixture's provider ask for consent.
func (h *fixture) strict() {
	h.Helper()
	quiet := slog.New(slog.DiscardHandler)
	h.provider.Server = must(oauth.New(context.Background(), oauth.Config{
		NoDelivery: true, Tokens: h.tokens, SignIn: h.provider.signIn, Consent: h.provider.signIn, Log: quiet,
	}))(h.TB)
	*h.provider.codes = *h.provider.Legacy()
}

func TestCheckSSONeverPromptsAndRevealsNothingWithoutConsent(t *testing.T) {
	h := newFixture(t)
	h.strict()
	sso := func() string {
		r := request("GET", "/connect.php", form("act", "check_sso", "appid", "1000", "redirect_uri", redirect, "state", "s"))
		r.AddCookie(&http.Cookie{Name: "open_sso_token", Value: h.session})
		return h.serve(r).Header().Get("Location")
	}
	if to := sso(); to != redirect+"?sso=0&state=s" {
		t.Errorf("without consent it leads to %q, want sso=0", to)
	}
	if _, err := h.store.OpenID(t.Context(), "1000", h.ada.Sub); err == nil {
		t.Error("they have met")
	}
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: "1000", UserID: h.ada.Sub}.With("openid profile")))(t)
	if to := sso(); !strings.Contains(to, "sso=1") || !strings.Contains(to, "code=") {
		t.Errorf("with consent it leads to %q, want a code", to)
	}
}

func TestUserWhoEndedAccessIsUnknownToTheApplication(t *testing.T) {
	h := newFixture(t)
	uid := h.callback(h.code()).wants(t, "callback", 1).text("social_uid")
	h.connect("query", "social_uid", uid).wants(t, "query", 1)
	if err := h.store.EndOpenID(t.Context(), "1000", h.ada.Sub, time.Now()); err != nil {
		t.Fatal(err)
	}
	h.connect("query", "social_uid", uid).refuses(t, "query", 106)
	if again := h.callback(h.code()).wants(t, "callback", 1).text("social_uid"); again != uid {
		t.Errorf("who comes back is %q, want %q", again, uid)
	}
	h.connect("query", "social_uid", uid).wants(t, "query", 1)
}
