package link

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"

	"github.com/keystile/keystile/internal/resp"
)

// kind says what an error tells about the server.
type kind int

const (
	away     kind = iota // it cannot be asked, or must not be: others will fail too
	tooLate              // it may have been busy for once
	actAlone             // this act only
)

// refusals are the errors that a server answers to everything, or to every write.
var refusals = []string{
	"READONLY", "OOM", "LOADING", "CLUSTERDOWN", "MASTERDOWN", "NOREPLICAS", "MISCONF",
	"NOAUTH", "WRONGPASS", "NOPERM", "BUSY",
}

func kindOf(err error) kind {
	var said resp.Error
	if errors.As(err, &said) {
		text := said.Error()
		for _, r := range refusals {
			if strings.HasPrefix(text, r+" ") || strings.Contains(text, "-"+r+" ") { // the latter within an error of a script
				return away
			}
		}
		return actAlone
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) &&
		timeout.Timeout():
		return tooLate
	case errors.Is(err, resp.ErrOther):
		return actAlone
	}
	return away
}
