package identity // import "github.com/keystile/keystile/storage/identity"

import "context"
import "github.com/keystile/keystile/storage/driver"

type Identity struct {
	Begun bool
	ID    string
}

const MarkID = "check"

const MarkKind = "master"

func Of(ctx context.Context, backend driver.Backend) (Identity, error)

const SettingID = "store.id"

const SettingKind = "setting"
