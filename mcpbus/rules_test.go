package mcpbus_test

import (
	"context"

	"github.com/keystile/keystile/storage"
)

// ruleless is a catalog whose access lists can not be read.
type ruleless struct{ *storage.Store }

func (ruleless) AccessLists(context.Context, string, int) ([]storage.AccessList, string, error) {
	return nil, "", errAway
}
