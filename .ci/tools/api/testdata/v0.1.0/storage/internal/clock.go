package clock // import "github.com/keystile/keystile/storage/internal/clock"

import "github.com/keystile/keystile/storage/driver"
import "time"

type Clock struct{ _ []struct{} }

func (*Clock) ClockAhead() time.Duration
func (*Clock) ClockErr() error
func (*Clock) Dated(rs ...driver.Revocation) []driver.Revocation
func (*Clock) Later(now time.Time) time.Time
func (*Clock) MayGrant() error
func (*Clock) Reached(now time.Time) time.Time
