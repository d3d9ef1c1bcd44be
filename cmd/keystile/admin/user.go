package admin

import (
	"context"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

func createUser(ctx context.Context, rooms Rooms, args cli.Args) (answer, error) {
	u, err := rooms.Users.Create(ctx, storage.User{
		Username: args.Get("username"), Role: args.Get("role"),
		Nickname: args.Get("nickname"), Email: args.Get("email"),
	}, args.Get(secretFlag))
	if err != nil {
		return nil, err
	}
	a := answer{{"sub", u.Sub}, {"id", u.ID}, {"username", u.Username}}
	for _, f := range []field{{"role", u.Role}, {"nickname", u.Nickname}, {"email", u.Email}} {
		if f.value != "" {
			a = append(a, f)
		}
	}
	return a, nil
}
