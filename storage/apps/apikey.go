package apps

import (
	"fmt"

	"github.com/keystile/keystile/storage/internal/document"
)

// keysApp is the application that API keys speak for. There is no document of it.
var keysApp = App{ID: KeysAppID, Name: "API keys", Public: true, Tier: TierFree}

// errKeysApp: somebody would change what is not stored.
var errKeysApp = fmt.Errorf("%w: the application %s is built in: it cannot be changed", document.ErrInvalid, KeysAppID)
