package mcpcall

import "fmt"

// tooLong is the error of an answer that is longer than is read.
type tooLong struct {
	limit int64 // bytes that are read at most
	size  int64 // of the answer; 0: it is not known
}

func (e *tooLong) Error() string { return "mcpcall: the answer is too long" }

// text describes the size of the answer. There is no URL to point to: MCP has links only within
// results.
func (e *tooLong) text() string {
	if e.size > e.limit {
		return fmt.Sprintf("the upstream's answer is longer than is read: it has %d bytes, and at most %d bytes are; ask "+
			"for less", e.size, e.limit)
	}
	return fmt.Sprintf("the upstream's answer is longer than is read: it has more than %d bytes; ask for less", e.limit)
}
