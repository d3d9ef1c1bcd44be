package oauth

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/internal/claims"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/event"
)

// ClaimsRequest says about whom Config.Claims is asked, and for whom.
//
// An application learns more of users than the protocol says in three ways, each of which is in id_tokens, at userinfo
// and at introspection. With the scope groups it learns of groups (decision 113), as far as its GroupFilter lets it.
// Rules (Config.ClaimRules, storage.App.Claims) and a function of the host (Config.Claims) add claims under other names
// (decision 114).
//
// An id_token is as old as it is, and so is an access token, which has groups if its application has
// GroupsInAccessToken: a member who was removed stays in it until it ends. An application that decides by groups asks
// userinfo, or uses tokens that end soon.
//
// A token without the scope, of an application without rules, costs nothing more, but for one reading of the
// application in five seconds at userinfo. With the scope the groups are read once for the token, and at each question.
type ClaimsRequest struct {
	User     storage.User
	ClientID string   // of the application that the token was issued to
	Scopes   []string // that the token has
	In       string   // where the claims are to stand: claim.InIDToken, claim.InUserInfo or claim.InIntrospection
}

// question holds whom an application may learn more about, beside the usual claims.
type question struct {
	app     *storage.App
	user    storage.User // zero where learns is false
	granted string       // the scope
	in      string
	groups  []string // of the user, as groups returns them
}

// learns reports whether an application with rules may learn more of users than its scope says.
func (k *core) learns(rules []claim.Rule) bool {
	return len(rules) > 0 || len(k.c.ClaimRules) > 0 || k.host != nil
}

// groups returns the names of the groups of a user (a sub) now, as far as an application learns of them; nil: neither
// the scope nor a rule opens any, and nothing was read.
func (k *core) groups(ctx context.Context, app *storage.App, sub, granted string) ([]string, error) {
	if !scope.Has(granted, scope.Groups) && !claim.NeedGroups(app.Claims) && !claim.NeedGroups(k.c.ClaimRules) {
		return nil, nil
	}
	in, err := k.store.GroupsOf(ctx, sub)
	names := make([]string, len(in))
	for i, g := range in {
		names[i] = g.Name
	}
	return app.Shown(names), err
}

// more returns the answer to a question, as members of a JSON object that each begin with a comma.
func (k *core) more(ctx context.Context, q question) (to []byte) {
	if scope.Has(q.granted, scope.Groups) {
		to = claims.AppendGroups(to, q.groups)
	}
	if !k.learns(q.app.Claims) {
		return to
	}
	before, scopes := len(to), strings.Fields(q.granted)
	shown := q.user
	shown.LoginType = logintype.Shown(k.c.LoginTypes, shown.LoginType)
	rules := slices.Concat(k.c.ClaimRules, q.app.Claims) // of two for one claim the later one decides
	ruled := claim.Of(rules, q.in, scopes, claims.Known(shown, q.groups))
	to = claims.AppendRuled(to, ruled)
	if k.host == nil {
		return to
	}
	all, failure := k.host.Ask(ctx, func(ctx context.Context) (map[string]any, error) {
		return k.c.Claims(ctx, ClaimsRequest{User: q.user, ClientID: q.app.ID, Scopes: scopes, In: q.in})
	})
	if failure != nil {
		k.noteClaims(ctx, q, "all: "+failure.Why, "error", failure.Err, "panic", failure.Panic, "stack",
			string(failure.Stack))
	}
	to, dropped := claims.AppendHosts(to, all, ruled, claim.MaxClaims-(len(to)-before))
	if len(dropped) > 0 {
		k.noteClaims(ctx, q, fmt.Sprintf("%q", dropped))
	}
	return to
}

// noteClaims writes down that claims of the host were left out.
func (k *core) noteClaims(ctx context.Context, q question, which string, why ...any) {
	k.c.Log.WarnContext(ctx, "claims of the host were left out: see Claims of the oauth.Config",
		append([]any{"which", which, "in", q.in, "client_id", q.app.ID, "sub", q.user.Sub}, why...)...)
	k.c.Audit.Note(event.Event{
		At: time.Now(), Kind: event.Token, RequestID: reqctx.ID(ctx), App: q.app.ID, User: q.user.Sub,
		Detail: event.DetailClaims + q.in + ": " + which, Status: http.StatusOK,
	})
}
