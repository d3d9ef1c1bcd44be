package command

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/scope"
)

// asKey is asUser with an API key.
func (w *world) asKey(role, scope string) caller {
	ann := w.somebody("ann", role, justNow)
	text, _, err := apikeys.Make(w.Context(), w.store, ann.Sub, "key", scope, time.Hour)
	fatal(w, err)
	_, err = w.b.Tokens.Verify(w.Context(), text) // its first use is written down
	fatal(w, err)
	synctest.Wait()
	return holding(ann, text)
}

// An API key opens no more and no less than a token of its user with its scope.
func TestAPIKeyOpensWhatATokenOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("tries a key at each endpoint")
	}
	for _, row := range rows {
		for _, object := range row.objects() {
			name := row.name(object)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					for _, wanted := range []string{"openid profile email", "tools", "member"} {
						scopeOf := func() string {
							if wanted == "member" {
								return scope.Member(w.own)
							}
							return wanted
						}
						token := credential{make: func(w *world) caller { return w.asUser("", scopeOf(), "") }}
						key := credential{make: func(w *world) caller { return w.asKey("", scopeOf()) }}
						if with, by := w.ask(token, row, object), w.ask(key, row, object); with != by {
							t.Errorf("%s with the scope %s: a token %s, a key %s", name, wanted, with, by)
						}
					}
				})
			})
		}
	}
}
