package manage

import "time"

const (
	overlap    = 24 * time.Hour      // decision 4
	maxOverlap = 30 * 24 * time.Hour // an old secret is not for keeping
)

// OverlapField is the field of a rotation that Overlap reads.
const OverlapField = "overlap_seconds"

// Overlap reads how long the old secret of an application stays valid beside its new one:
// a day, if nothing was sent. With 0 it ends at once.
func (f Fields) Overlap() (time.Duration, error) {
	seconds := int64(overlap / time.Second)
	if err := f.Read(OverlapField, "a whole number of seconds", &seconds); err != nil {
		return 0, err
	}
	if seconds < 0 || seconds > int64(maxOverlap/time.Second) {
		return 0, BadBody.Saying("overlap_seconds is from 0 to 2592000, which is 30 days")
	}
	return time.Duration(seconds) * time.Second, nil
}
