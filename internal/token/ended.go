package token

import (
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Skew bounds the difference between the clocks of two machines.
const Skew = time.Minute

// EndOfApp returns the revocation of an application that is removed. A request that is on its way may have read the
// application before: the revocation reaches ahead, which costs nothing, because a client_id is never given again.
func EndOfApp(id string) driver.Revocation {
	return driver.Revocation{Kind: driver.RevokeApp, ID: id, Before: time.Now().Add(Skew).UTC()}
}
