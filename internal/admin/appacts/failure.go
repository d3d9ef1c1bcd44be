package appacts

import (
	"fmt"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Refusals beside those of package admin.
var (
	// decision 52
	notByItself = &reply.Failure{Status: 403, Msg: "an application does not do this with its own token: it takes a " +
		"user's token with the scope apps, or the console"}
	// protocol 7
	adminOnly = &reply.Failure{Status: 403, Msg: "this field is an administrator's to set"}
	// protocol 7
	noOwner = &reply.Failure{Status: 400, Msg: "owner is not the sub of a user: see GET /api/console/users"}

	// decision 55
	badHost = &reply.Failure{Status: 400,
		Msg: "host is none: give it without https:// and path, such as agents.example.com"}
	// decision 55
	noFetch = &reply.Failure{Status: 400, Msg: "this client has registered itself: there is no document to read"}
	// decision 55
	byHost = &reply.Failure{Status: 400,
		Msg: "this client is admitted or refused with the host of its document: trust or deny the host"}
)

var errNowhere = fmt.Errorf("%w: domains is missing: list the hosts that users may be sent back to, such as "+
	"app.example.com; "+
	"a program on a device may have redirect_uris of a private-use scheme instead", storage.ErrInvalid)

// Denied says which field of an application its owner may not set like this, and why.
type Denied struct{ Field, Why string }

func (d *Denied) Error() string { return d.Field + ": " + d.Why }
