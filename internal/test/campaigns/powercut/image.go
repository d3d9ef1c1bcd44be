package powercut

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fate describes what became of writes that were not synced.
type fate int

const (
	nothing fate = iota // the disk has none of it
	all                 // all of it
	half                // some of the writes
	torn                // some sectors of each write
	newest              // the last write alone
	zeros               // the new size, and zeros where the disk has nothing
	garbage             // the new size, and whatever was there before
	fates
)

func (f fate) String() string {
	return []string{"nothing", "all", "half", "torn", "newest", "zeros", "garbage", "mixed"}[f]
}

const sector = 512 // what a disk writes wholly or not at all

// cut makes images of a disk as it may be after a power cut.
type cut struct {
	at     int  // every call that began before this place was made, and no other
	fate   fate // of everything, or fates: each file and folder has its own
	rand   *rand.Rand
	append string // files below this folder are only appended to; they alone have zeros and garbage
}

func (c cut) String() string { return fmt.Sprintf("at %d, of the rest %v", c.at, c.fate) }

func (c cut) draw() fate {
	if c.fate == fates {
		return fate(c.rand.IntN(int(newest) + 1))
	}
	return c.fate
}

// durable reports whether something had ended before a sync began that had ended by the cut.
func (c cut) durable(op span, syncs []span) bool {
	return slices.ContainsFunc(syncs, func(s span) bool { return op.end < s.begin && s.end < c.at })
}

// make writes the image into a folder that is not there.
func (c cut) make(d *disk, to string) error { return c.folder(d.top, to) }

func (c cut) folder(f *folder, to string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	names := map[string]node{}
	for _, op := range c.chosen(f) {
		if op.gone != "" {
			delete(names, op.gone)
		}
		if op.name != "" {
			names[op.name] = op.node
		}
	}
	for name, n := range names {
		path := filepath.Join(to, name)
		var err error
		switch n := n.(type) {
		case *folder:
			err = c.folder(n, path)
		case *file:
			err = c.file(n, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen returns what a folder remembers: what was synced, and of the rest what fate leaves.
func (c cut) chosen(f *folder) (ops []nameOp) {
	var rest []nameOp
	for _, op := range f.ops {
		if op.begin < c.at && !c.durable(op.span, f.syncs) {
			rest = append(rest, op)
		}
	}
	fate := c.draw()
	first := c.rand.IntN(len(rest) + 1)
	i := 0
	for _, op := range f.ops {
		if op.begin >= c.at {
			break
		}
		if c.durable(op.span, f.syncs) {
			ops = append(ops, op)
			continue
		}
		var kept bool
		switch fate {
		case nothing:
		case all, zeros, garbage:
			kept = true
		case half:
			kept = c.rand.IntN(2) == 0
		case torn: // in their order, up to one of them
			kept = i < first
		case newest:
			kept = i == len(rest)-1
		}
		if kept {
			ops = append(ops, op)
		}
		i++
	}
	return ops
}

func (c cut) file(f *file, to string) error {
	fate := c.draw()
	if fate >= zeros && !strings.HasPrefix(f.path, c.append) {
		fate = all
	}
	var rest []dataOp
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, op := range f.ops {
		switch {
		case op.begin >= c.at:
		case !c.durable(op.span, f.syncs):
			rest = append(rest, op)
		default:
			if err := op.onto(out); err != nil {
				return err
			}
		}
	}
	for i, op := range rest {
		for _, op := range c.left(op, fate, i == len(rest)-1) {
			if err := op.onto(out); err != nil {
				return err
			}
		}
	}
	return nil
}

// left returns what remains of one write that was not synced.
func (c cut) left(op dataOp, fate fate, last bool) []dataOp {
	switch fate {
	case all:
		return []dataOp{op}
	case half:
		if c.rand.IntN(2) == 0 {
			return []dataOp{op}
		}
	case newest:
		if last {
			return []dataOp{op}
		}
	case torn:
		if op.sizes {
			return []dataOp{op}
		}
		return c.tear(op)
	case zeros:
		return []dataOp{{at: op.at, data: make([]byte, len(op.data)), sizes: op.sizes}}
	case garbage:
		other := make([]byte, len(op.data))
		for i := range other {
			other[i] = byte(c.rand.Uint32())
		}
		return []dataOp{{at: op.at, data: other, sizes: op.sizes}}
	}
	return nil
}

func (c cut) tear(op dataOp) (left []dataOp) {
	for at := int64(0); at < int64(len(op.data)); {
		end := min(int64(len(op.data)), (op.at+at)/sector*sector+sector-op.at)
		if c.rand.IntN(2) == 0 {
			left = append(left, dataOp{at: op.at + at, data: op.data[at:end]})
		}
		at = end
	}
	return left
}

func (op dataOp) onto(f *os.File) error {
	if op.sizes {
		return f.Truncate(op.at)
	}
	_, err := f.WriteAt(op.data, op.at)
	return err
}
