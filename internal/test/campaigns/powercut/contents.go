package powercut

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// same compares what the history says is there now with what is there. A difference means
// that the recorder has missed something.
func (d *disk) same() error {
	var errs []error
	found := map[string]bool{d.root: true}
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type()&fs.ModeSocket != 0 {
			return err
		}
		found[path] = true
		n, there := d.nodes[path]
		f, isFile := n.(*file)
		if !there || isFile == e.IsDir() {
			errs = append(errs, fmt.Errorf("%s is there, and was not seen to be made", path))
			return nil
		}
		if isFile {
			is, err := os.ReadFile(path)
			if want := whole(f.ops); err != nil || !bytes.Equal(is, want) {
				errs = append(errs, fmt.Errorf("%s has other contents than were seen to be written: %d bytes, %d, %v", path,
					len(is), len(want), err))
			}
		}
		return nil
	})
	for path := range d.nodes {
		if !found[path] {
			errs = append(errs, errors.New(strconv.Quote(path)+" is not there, and was not seen to be removed"))
		}
	}
	return errors.Join(append(errs, err)...)
}

// hold compares files that were looked at before a time with what the history says that they are now,
// and returns the others.
func (d *disk) hold(left []leftover, before int64) ([]leftover, error) {
	for ; len(left) > 0 && left[0].at < before; left = left[1:] {
		if err := d.holds(left[0]); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (d *disk) holds(l leftover) error {
	f, there := d.nodes[l.path].(*file)
	if !there {
		return fmt.Errorf("%s is there, and was not seen to be made", l.path)
	}
	if want := whole(f.ops); !bytes.Equal(l.data, want) {
		return fmt.Errorf("%s, mapped %t, has other contents than were seen to be written: %d bytes, %d", l.path, f.mapped,
			len(l.data), len(want))
	}
	return nil
}

// whole returns the content that all of some writes make.
func whole(ops []dataOp) []byte {
	var data []byte
	for _, op := range ops {
		end := int(op.at) + len(op.data)
		if op.sizes && end < len(data) {
			data = data[:end]
		}
		if end > len(data) {
			data = append(data, make([]byte, end-len(data))...)
		}
		copy(data[op.at:], op.data)
	}
	return data
}
