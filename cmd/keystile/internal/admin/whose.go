package admin

import (
	"context"
	"errors"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/internal/pattern"
)

// subForm is that of a sub of ours.
var subForm = pattern.Lazy(`^u[a-z2-7]{26}$`)

// whose is the answer of audit whose.
type whose struct {
	Sub string `json:"sub"`
}

func (w whose) text(bool) (string, error) { return line(w) }

func findWhose(ctx context.Context, target Target, args cli.Args) (output, error) {
	sub, err := near{target.Store}.sub(ctx, args.Words[0])
	return whose{sub}, err
}

// sub returns the sub of the user that a username or a sub names.
func (d *distant) sub(ctx context.Context, user string) (string, error) {
	var w whose
	err := d.ask(ctx, &w, "audit whose", user)
	return w.Sub, err
}

// sub is that of a distant trail. A sub of ours is taken as it is, because its user may be gone.
func (n near) sub(ctx context.Context, user string) (string, error) {
	if subForm().MatchString(user) {
		return user, nil
	}
	u, err := userOf(ctx, n.Store, user)
	return u.Sub, err
}

// ofPerson returns the sub that --user or --for gives, "" if neither was given.
func ofPerson(ctx context.Context, call cli.Call, s searcher) (string, error) {
	switch user := call.Get("for"); {
	case user == "":
		return call.Get("user"), nil
	case call.Get("user") != "":
		return "", &cli.UsageError{Err: errors.New("--user and --for exclude each other: --for takes a username too")}
	default:
		return s.sub(ctx, user)
	}
}
