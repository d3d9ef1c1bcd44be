package registration

import (
	"time"

	"github.com/keystile/keystile/internal/allowance"
)

const day = 24 * time.Hour

// Allowed says how many applications may register themselves.
var Allowed = allowance.Kind{
	Name:    "register",
	Each:    []allowance.Rate{{N: 30, Window: time.Hour}, {N: 100, Window: day}},
	Common:  allowance.Rate{N: 2000, Window: day},
	Reserve: allowance.Rate{N: 4, Window: day},
}
