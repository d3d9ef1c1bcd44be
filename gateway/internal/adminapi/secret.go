package adminapi

import (
	"net/http"
	"time"
)

const (
	overlap    = 24 * time.Hour      // decision 4
	maxOverlap = 30 * 24 * time.Hour // an old secret is not for keeping
)

// OverlapField is the field that ReadOverlap reads.
const OverlapField = "overlap_seconds"

// ReadOverlap reads how long the old secret of an application stays valid beside its new one:
// a day, if nothing was sent. With 0 it ends at once.
func ReadOverlap(w http.ResponseWriter, r *http.Request) (time.Duration, error) {
	seconds := int64(overlap / time.Second)
	f, err := ReadFields(w, r, OverlapField)
	if err == nil {
		err = f.Read(OverlapField, "a whole number of seconds", &seconds)
	}
	if err == nil && (seconds < 0 || seconds > int64(maxOverlap/time.Second)) {
		err = BadBody.Saying("overlap_seconds is from 0 to 2592000, which is 30 days")
	}
	return time.Duration(seconds) * time.Second, err
}
