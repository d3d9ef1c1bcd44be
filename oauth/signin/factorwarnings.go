package signin

import (
	"context"

	"github.com/keystile/keystile/oauth/signin/internal/account"
	"github.com/keystile/keystile/oauth/signin/internal/enrol"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// factorWarnings returns what a user should do about their second factor.
func (s *SignIn) factorWarnings(ctx context.Context, u storage.User) ([]account.Warning, error) {
	f, err := s.factors.Store.Factors(ctx, u.Sub)
	if err != nil {
		return nil, err
	}
	due := s.factors.Due(u, f)
	switch {
	case !due.IsZero():
		return []account.Warning{{
			Text: "A second factor is required of you. You can sign in without one until %s.",
			Day:  due,
			Link: web.Link{Path: enrol.Path, Label: "Set up now"},
		}}, nil
	case factor.FewCodes(f):
		return []account.Warning{{
			Text: "You have few recovery codes left. Make new ones before you need them.",
			Link: web.Link{Path: enrol.Path, Label: "Two-step sign-in"},
		}}, nil
	}
	return nil, nil
}
