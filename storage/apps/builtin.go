package apps

import (
	"fmt"

	"github.com/keystile/keystile/storage/internal/document"
)

// builtIn are the applications that API keys and people in the console call by. There is no document of them.
var builtIn = map[string]App{
	KeysAppID:    {ID: KeysAppID, Name: "API keys", Public: true, Tier: TierFree},
	ConsoleAppID: {ID: ConsoleAppID, Name: "Console", Public: true, Tier: TierFree},
}

// isBuiltIn reports whether a client_id is that of a built-in application.
func isBuiltIn(id string) bool { return builtIn[id].ID != "" }

// errBuiltIn: somebody would change what is not stored.
func errBuiltIn(id string) error {
	return fmt.Errorf("%w: the application %s is built in: it cannot be changed", document.ErrInvalid, id)
}
