package resp

import (
	"strconv"
	"time"
)

// Command is a command and its arguments.
type Command []string

// append writes a command as a server reads it.
func (c Command) append(to []byte) []byte {
	to = append(strconv.AppendInt(append(to, '*'), int64(len(c)), 10), '\r', '\n')
	for _, word := range c {
		to = append(strconv.AppendInt(append(to, '$'), int64(len(word)), 10), '\r', '\n')
		to = append(append(to, word...), '\r', '\n')
	}
	return to
}

// batch holds the commands that go out in one write.
type batch struct {
	began time.Time
	mark  string
	calls []*call
	out   []byte
}

// call holds the answers that a caller waits for, one to each of its commands.
type call struct {
	answers []Value
	err     error
	done    chan struct{}
	one     [1]Value // of which most have one
}

// read reads the answers to a batch.
func (b *batch) read(in *reader) (err error) {
	in.left = bytesMost
	for _, k := range b.calls {
		for i := range k.answers {
			if k.answers[i], err = in.value(0); err != nil {
				return err
			}
		}
	}
	mark, err := in.value(0)
	switch {
	case err != nil:
		return err
	case mark.Kind == Failure:
		return mark.Err() // such as LOADING: it is said to all commands
	case mark.Kind != Text || mark.Text != b.mark:
		return errStep
	}
	return nil
}
