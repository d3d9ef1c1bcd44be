package passkey

import (
	"context"
	_ "embed"
	"net/http"
	"sync/atomic"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Paths.
const (
	beginPath       = web.PasskeyPath + "/begin"
	secondBeginPath = web.PasskeySecondPath + "/begin"

	Path       = web.AccountPath + "/passkeys" // the page of a user's passkeys
	addPath    = Path + "/begin"
	renamePath = Path + "/rename"
	endPath    = Path + "/end"
)

// Method is the sign-in method of users who sign in with a passkey.
const Method = "passkey"

// Unmetered returns the paths that have a limit of their own, or are a file.
func Unmetered() []string { return []string{beginPath, web.PasskeyScript} }

//go:embed passkey.js
var script []byte

// Passkeys signs users in with passkeys, and serves the page on which they add them.
type Passkeys struct {
	*flow.Steps
	Factors *factor.Factors // keeps them, and waits for a second factor
	Store   store
	Users   userStore
	Codes   string // the page on which who has none gets recovery codes; "": none

	Party *webauthn.WebAuthn // see PartyOf

	challenges atomic.Pointer[storage.Secret] // the key of the challenges; nil: not read yet
}

// store keeps which challenges were answered, and the key of all; *storage.Store implements it.
type store interface {
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

func (s *Passkeys) Routes() []reply.Route {
	get, post := []string{http.MethodGet, http.MethodHead}, []string{http.MethodPost}
	return []reply.Route{
		{Path: beginPath, Methods: post, Handle: s.beginSignIn},
		{Path: web.PasskeyPath, Methods: post, Handle: s.signIn, Fail: web.Fail},
		{Path: secondBeginPath, Methods: post, Handle: s.beginSecond},
		{Path: web.PasskeySecondPath, Methods: post, Handle: s.proveSecond, Fail: web.Fail},
		web.Script(web.PasskeyScript, script),
		{Path: Path, Methods: append(get, post...), Handle: s.serve, Fail: web.FailAccount},
		{Path: addPath, Methods: post, Handle: s.beginAdd},
		{Path: renamePath, Methods: post, Handle: s.rename, Fail: web.FailAccount},
		{Path: endPath, Methods: post, Handle: s.end, Fail: web.FailAccount},
	}
}

// tooMany refuses who asks for challenges too often. They cost little and are not stored.
func (s *Passkeys) tooMany(r *http.Request) error {
	if wait := s.Rates.Polls.TakeOf(r.Context(), network.Of(s.Peer(r))); wait > 0 {
		return web.TooManyPolls.With("Retry-After", web.InSeconds(wait))
	}
	return nil
}

func answer(w http.ResponseWriter, options any) error {
	w.Header().Set("Cache-Control", "no-store")
	return reply.JSON(w, http.StatusOK, options)
}
