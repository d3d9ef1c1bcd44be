package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
)

// The check of bbolt follows whatever a damaged page points to, out of the file or in a
// circle, in a goroutine of its own where no fault can be caught. So the pages are walked
// here first, by reading the file.
const (
	pageHead   = 16 // id 8, flags 2, count 2, overflow 4
	element    = 16
	branchPage = 0x01
	leafPage   = 0x02
	freePage   = 0x10
	aBucket    = 0x01           // flag of an element of a leaf
	bucketHead = 16             // of its value: root 8, sequence 8
	noFreePage = math.MaxUint64 // the list of free pages is not kept
	metaSize   = 64             // without the head; the last 8 bytes are its checksum
)

var order = binary.NativeEndian // as bbolt has it

var errOrder = errors.New("not in order")

// pages walks the pages of one state of a file.
type pages struct {
	file     io.ReaderAt
	size     uint64 // of a page
	end      uint64 // the first page that is not there
	root     uint64
	freelist uint64
	seen     map[uint64]bool
}

// newPages reads the state that transaction tx shows.
func newPages(file io.ReaderAt, pageSize int, tx uint64) (*pages, error) {
	for at := range int64(2) {
		meta := make([]byte, metaSize)
		if _, err := file.ReadAt(meta, at*int64(pageSize)+pageHead); err != nil {
			return nil, err
		}
		sum := fnv.New64a()
		sum.Write(meta[:56])
		if order.Uint64(meta[48:]) == tx && order.Uint64(meta[56:]) == sum.Sum64() {
			return &pages{
				file: file, size: uint64(pageSize), root: order.Uint64(meta[16:]), freelist: order.Uint64(meta[32:]),
				end: order.Uint64(meta[40:]), seen: map[uint64]bool{0: true, 1: true},
			}, nil
		}
	}
	return nil, fmt.Errorf("no page 0 or 1 is that of transaction %d", tx)
}

// check walks all that can be reached, and looks that every other page is free.
func (p *pages) check() error {
	if err := p.walk(p.root); err != nil {
		return err
	}
	if p.freelist == noFreePage {
		return nil
	}
	if err := p.free(); err != nil {
		return err
	}
	for id := range p.end {
		if !p.seen[id] {
			return fmt.Errorf("page %d is neither used nor free", id)
		}
	}
	return nil
}

// read returns a page and those it overflows into.
func (p *pages) read(id uint64) ([]byte, error) {
	if id < 2 || id >= p.end || p.seen[id] {
		return nil, fmt.Errorf("page %d is pointed to, and is used already or not in the file", id)
	}
	head := make([]byte, pageHead)
	if _, err := p.file.ReadAt(head, int64(id*p.size)); err != nil {
		return nil, err
	}
	if got := order.Uint64(head); got != id {
		return nil, fmt.Errorf("page %d says that it is page %d", id, got)
	}
	more := uint64(order.Uint32(head[12:]))
	if more >= p.end-id {
		return nil, fmt.Errorf("page %d reaches beyond the end of the file", id)
	}
	for i := range more + 1 {
		if p.seen[id+i] {
			return nil, fmt.Errorf("page %d is used twice", id+i)
		}
		p.seen[id+i] = true
	}
	page := make([]byte, (more+1)*p.size)
	_, err := p.file.ReadAt(page, int64(id*p.size))
	return page, err
}

func (p *pages) walk(id uint64) error {
	page, err := p.read(id)
	if err != nil {
		return err
	}
	if err := p.elements(page, order.Uint16(page[8:])); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	return nil
}

// elements follows the elements of a branch or a leaf.
func (p *pages) elements(page []byte, flags uint16) error {
	if flags != branchPage && flags != leafPage {
		return fmt.Errorf("it is neither a branch nor a leaf")
	}
	count := int(order.Uint16(page[10:]))
	if pageHead+count*element > len(page) || flags == branchPage && count == 0 {
		return fmt.Errorf("it cannot have %d elements", count)
	}
	var before []byte
	for i := range count {
		at := pageHead + i*element
		e := page[at:]
		pos, keys, values := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		if flags == branchPage {
			pos, keys, values = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:])), 0
		}
		if pos+keys+values > uint64(len(e)) {
			return fmt.Errorf("element %d reaches beyond its end", i)
		}
		key, value := e[pos:pos+keys], e[pos+keys:pos+keys+values]
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return fmt.Errorf("element %d is %w", i, errOrder)
		}
		before = key
		var err error
		switch {
		case flags == branchPage:
			err = p.walk(order.Uint64(e[8:]))
		case order.Uint32(e)&aBucket != 0:
			err = p.bucket(value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket follows a bucket, which is a tree of pages, or a small page inside its value.
func (p *pages) bucket(value []byte) error {
	if len(value) < bucketHead {
		return fmt.Errorf("a bucket is cut off")
	}
	if root := order.Uint64(value); root != 0 {
		return p.walk(root)
	}
	if value = value[bucketHead:]; len(value) < pageHead {
		return fmt.Errorf("a bucket is cut off")
	}
	return p.elements(value, order.Uint16(value[8:]))
}

// free reads the list of free pages: none of them is used, and none stands there twice.
func (p *pages) free() error {
	list, err := p.read(p.freelist)
	if err != nil {
		return err
	}
	count, ids := uint64(order.Uint16(list[10:])), list[pageHead:]
	if count == math.MaxUint16 { // too many for the head
		count, ids = order.Uint64(ids), ids[8:]
	}
	if order.Uint16(list[8:]) != freePage || count > uint64(len(ids)/8) {
		return fmt.Errorf("page %d is no list of free pages", p.freelist)
	}
	for i := range count {
		id := order.Uint64(ids[8*i:])
		if id >= p.end || p.seen[id] {
			return fmt.Errorf("page %d is called free, and is used or not in the file", id)
		}
		p.seen[id] = true
	}
	return nil
}
