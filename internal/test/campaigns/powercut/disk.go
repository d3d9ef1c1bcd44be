package powercut

import (
	"fmt"
	"path/filepath"
	"strings"
)

// disk is the history of everything below one folder.
type disk struct {
	root   string
	top    *folder
	nodes  map[string]node // what has which name now
	events []int           // places at which something changed here, or was synced
}

// node is a *file or a *folder.
type node any

// span is the places in the trace between which something happened.
type span struct{ begin, end int }

type folder struct {
	ops   []nameOp
	syncs []span
}

// nameOp gives a node a name, or takes a name away, or both at once.
type nameOp struct {
	span
	gone string // "": no name is taken away
	name string // "": none is given
	node node
}

type file struct {
	path   string // its first name; temporary ones are as good
	ops    []dataOp
	syncs  []span
	mapped bool // stores change it, which no call shows
}

// dataOp writes data, or sets the size.
type dataOp struct {
	span
	at    int64
	data  []byte
	sizes bool // at is the new size
}

func newDisk(root string) *disk {
	top := &folder{}
	return &disk{root: root, top: top, nodes: map[string]node{root: top}}
}

// within reports whether a path belongs to this disk, and cleans it of a deleted file's mark.
func (d *disk) within(path string) bool {
	return path == d.root || strings.HasPrefix(path, d.root+"/")
}

// play adds a call to the history. A call that is not understood, on a file of this disk, is
// an error: leaving it out would make images that no power cut leaves.
func (d *disk) play(c *call) error {
	if c.failed() {
		return nil
	}
	s := span{c.begin, c.end}
	switch c.name {
	case "openat":
		return d.open(c, s)
	case "mkdirat":
		return d.give(c.path(1), s, &folder{})
	case "unlinkat":
		return d.take(c.path(1), s)
	case "linkat":
		if d.within(c.path(3)) {
			return d.give(c.path(3), s, d.nodes[c.path(1)])
		}
		return nil
	case "renameat", "renameat2":
		return d.rename(c.path(1), c.path(3), s)
	}
	path := c.path(0)
	if c.name == "mmap" {
		path = c.path(4)
		if !c.stores() {
			return nil
		}
	}
	n, known := d.nodes[path]
	if !d.within(path) || strings.HasSuffix(path, " (deleted)") {
		return nil
	}
	if !known {
		return fmt.Errorf("%s of %s, which was never made", c.name, path)
	}
	d.events = append(d.events, c.begin)
	switch n := n.(type) {
	case *folder:
		if c.name == "fsync" {
			n.syncs = append(n.syncs, s)
			return nil
		}
	case *file:
		return n.play(c, s)
	}
	return fmt.Errorf("%s of %s is not understood", c.name, path)
}

func (f *file) play(c *call, s span) error {
	var op dataOp
	var err error
	switch c.name {
	case "fsync", "fdatasync":
		f.syncs = append(f.syncs, s)
		return nil
	case "mmap": // of a journal, whose stores are told with pwrite64
		f.mapped = true
		return nil
	case "fallocate":
		op.sizes = true
		if op.at, err = c.room(); err == nil {
			op.at = max(op.at, f.size())
		}
	case "write": // this program only ever appends with it
		op.data, err = c.data()
		op.at = f.size()
	case "pwrite64":
		if op.data, err = c.data(); err == nil {
			op.at, err = c.number(3)
		}
	case "ftruncate":
		op.sizes = true
		op.at, err = c.number(1)
	default:
		err = fmt.Errorf("%s of %s is not understood", c.name, f.path)
	}
	op.span = s
	f.ops = append(f.ops, op)
	return err
}

func (f *file) size() (n int64) {
	for _, op := range f.ops {
		if op.sizes {
			n = op.at
		} else {
			n = max(n, op.at+int64(len(op.data)))
		}
	}
	return n
}

func (d *disk) open(c *call, s span) error {
	path := c.path(1)
	flags := c.args[2]
	if !d.within(path) || !strings.Contains(flags, "O_CREAT") && !strings.Contains(flags, "O_TRUNC") {
		return nil
	}
	if n, there := d.nodes[path]; there {
		if f, ok := n.(*file); ok && strings.Contains(flags, "O_TRUNC") {
			f.ops = append(f.ops, dataOp{span: s, sizes: true})
			d.events = append(d.events, c.begin)
		}
		return nil
	}
	return d.give(path, s, &file{path: path})
}

func (d *disk) parent(path string) (*folder, error) {
	f, ok := d.nodes[filepath.Dir(path)].(*folder)
	if !ok {
		return nil, fmt.Errorf("%s is in no folder that was made", path)
	}
	return f, nil
}

func (d *disk) give(path string, s span, n node) error {
	if !d.within(path) {
		return nil
	}
	in, err := d.parent(path)
	if err != nil {
		return err
	}
	d.nodes[path] = n
	in.ops = append(in.ops, nameOp{span: s, name: filepath.Base(path), node: n})
	d.events = append(d.events, s.begin)
	return nil
}

// take forgets names it has never heard of: those of sockets.
func (d *disk) take(path string, s span) error {
	if _, there := d.nodes[path]; !there || !d.within(path) {
		return nil
	}
	in, err := d.parent(path)
	if err != nil {
		return err
	}
	delete(d.nodes, path)
	in.ops = append(in.ops, nameOp{span: s, gone: filepath.Base(path)})
	d.events = append(d.events, s.begin)
	return nil
}

func (d *disk) rename(from, to string, s span) error {
	if !d.within(from) && !d.within(to) {
		return nil
	}
	n, there := d.nodes[from]
	if !there || filepath.Dir(from) != filepath.Dir(to) {
		return fmt.Errorf("a rename of %s to %s is not understood", from, to)
	}
	in, err := d.parent(to)
	if err != nil {
		return err
	}
	delete(d.nodes, from)
	d.nodes[to] = n
	in.ops = append(in.ops, nameOp{span: s, gone: filepath.Base(from), name: filepath.Base(to), node: n})
	d.events = append(d.events, s.begin)
	return nil
}
