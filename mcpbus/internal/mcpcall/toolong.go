package mcpcall

import "fmt"

// tooLong is errTooLong with how much there is.
type tooLong struct {
	limit int64 // bytes that are read
	size  int64 // of the answer; 0: it is not known
}

func (e *tooLong) Error() string        { return errTooLong.Error() }
func (e *tooLong) Is(target error) bool { return target == errTooLong }

// text tells how much there is. The upstream's server offers no place where it could be had:
// MCP has links within results alone.
func (e *tooLong) text() string {
	if e.size > e.limit {
		return fmt.Sprintf("the upstream's answer is longer than is read: it has %d bytes, and at most %d bytes are; ask for less", e.size, e.limit)
	}
	return fmt.Sprintf("the upstream's answer is longer than is read: it has more than %d bytes; ask for less", e.limit)
}
