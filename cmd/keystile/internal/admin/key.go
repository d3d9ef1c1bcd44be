package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

var keyCommands = []command{
	{
		name: "key list", summary: "List the signing keys and the ids of the master keys", do: listKeys,
		details: "A signing key is published as next before it is used, then active, then retired: published\n" +
			"until all it signed has expired. " +
			"Of the master keys (alg A256GCM) one seals what the store keeps\n" +
			"secret, and others, if there are any, open what was sealed before; their ids reveal nothing.",
		examples: []string{"keystile key list"},
	},
	{
		name: "key rotate", summary: "Sign with the next key from now on", do: rotateKey, acts: true,
		details: "Next becomes active, active becomes retired, and a new next key is drawn. Tokens that\n" +
			"were signed before stay valid. Leave five minutes between two rotations: so long\n" +
			"others may keep a copy of the key set.",
		examples: []string{"keystile key rotate", "keystile key rotate --alg EdDSA"},
		flags:    []cli.Flag{{Name: "alg", Value: "ALG", Help: "ES256, EdDSA or RS256 (the one that signs access tokens)"}},
	},
	{
		name: "key retire", words: []string{"KID"}, summary: "Withdraw a retired key at once", do: retireKey, acts: true,
		details: "Everything it signed is invalid from now on. If a key has leaked: rotate, then retire it.\n" +
			"A KID that begins with a dash is named behind two of them.",
		examples: []string{"keystile key retire NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
			"keystile key retire -- -U7kV6FiUmyUJYqYnMcdooU6H6y5I-2DQkaUlZJCq-c"},
	},
}

func listKeys(ctx context.Context, target Target, _ cli.Args) (output, error) {
	keys, err := target.Store.SigningKeys(ctx)
	slices.SortFunc(keys, func(a, b storage.SigningKey) int {
		return cmp.Or(cmp.Compare(a.Alg, b.Alg), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	said := list{empty: "no keys"}
	for _, k := range keys {
		said.rows = append(said.rows, answer{
			{"kid", k.ID}, {"alg", k.Alg}, {"state", k.State}, {"created_at", when(k.CreatedAt)},
			{"retired_at", when(k.RetiredAt)}, {"expires_at", when(k.ExpiresAt)},
		})
	}
	if err != nil || target.Keys == nil {
		return said, err
	}
	masters, _, err := target.Keys.Read()
	for i, k := range masters {
		said.rows = append(said.rows, answer{
			{"kid", k.ID()}, {"alg", "A256GCM"}, {"state", []string{"seals", "opens"}[min(i, 1)]}, {"created_at", stamp("")},
			{"retired_at", stamp("")}, {"expires_at", stamp("")},
		})
	}
	return said, err
}

func rotateKey(ctx context.Context, target Target, args cli.Args) (output, error) {
	active, err := target.service().RotateKey(ctx, target.By, cmp.Or(args.Get("alg"), target.SigningAlg))
	switch {
	case errors.Is(err, storage.ErrConflict):
		return nil, errors.New("another process is rotating the keys at this moment; look at: keystile key list")
	case errors.Is(err, storage.ErrInvalid):
		return nil, fmt.Errorf("%v; see: keystile key list (keys are made when the server first needs them)", plain(err))
	}
	return answer{{"kid", active.ID}, {"alg", active.Alg}, {"state", active.State}}, err
}

func retireKey(ctx context.Context, target Target, args cli.Args) (output, error) {
	kid := args.Words[0]
	err := target.service().RetireKey(ctx, target.By, kid)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil, fmt.Errorf("there is no key %q; list them with: keystile key list", kid)
	case errors.Is(err, storage.ErrInvalid):
		return nil, fmt.Errorf("%v", plain(err))
	}
	return answer{{"kid", kid}, {"withdrawn", true}}, err
}

func (r Target) reload(ctx context.Context) error {
	if r.Provider == nil {
		return nil
	}
	if err := r.Provider.ReloadKeys(ctx); err != nil {
		return fmt.Errorf("it is stored, but the server goes on with the keys it has; restart it: %w", err)
	}
	return nil
}
