package adminapi

import (
	"errors"
	"strings"

	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Failures of both kinds of endpoints.
var (
	// protocol 7
	BadBody = &reply.Failure{Status: 400, Msg: "the body could not be read: send a JSON object"}
	// protocol 7
	BadQuery = &reply.Failure{Status: 400, Msg: "the query is malformed"}
	// protocol 7
	badPlace = &reply.Failure{Status: 400, Msg: "after is the next of the page before, as it was sent"}
	// protocol 7
	NotJSON = &reply.Failure{Status: 400, Msg: "send Content-Type: application/json"}
	// decision 29
	TooManyApps = &reply.Failure{Status: 400, Msg: "you have as many applications as one user may: delete one first"}
	// decision 101
	NotOwners = &reply.Failure{Status: 403,
		Msg: "an operator has set this field, so only an operator changes it: ask one, or leave it out"}
)

// Refusal turns an error of the store into a failure. It returns missing for ErrNotFound.
func Refusal(err error, missing *reply.Failure) error {
	denied := (*appacts.Denied)(nil)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &denied):
		return NotOwners.Saying(denied.Error())
	case errors.Is(err, storage.ErrNotFound):
		return missing
	case errors.Is(err, storage.ErrTooManyApps):
		return TooManyApps
	case errors.Is(err, storage.ErrInvalid), errors.Is(err, storage.ErrExists):
		return BadBody.Saying(Plain(err))
	}
	return err
}

// Plain returns the reason of a store error, without the store's prefix.
func Plain(err error) string {
	text := strings.ReplaceAll(err.Error(), storage.ErrInvalid.Error()+": ", "")
	text = strings.TrimSuffix(text, ": "+storage.ErrExists.Error())
	return strings.ReplaceAll(strings.TrimPrefix(text, "application: "), "\n", "; ")
}
