package toolschema

import (
	"errors"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

func TestDocumentReferencesLead(t *testing.T) {
	root, err := tree.Parse(`{"a":{"$ref":"#/b"},"b":{"$ref":"#/c~1d/1/e~0f"},"c/d":[0,{"e~f":{"here":true}}],"é%":{"here":true},
		"self":{"$ref":"#/self"},"no":{"$ref":7},"long":{"$ref":"#/`+strings.Repeat("x", 2000)+`"},"":{"":{"here":true}}}`, 9)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDocument(root, 16)
	for _, c := range []struct {
		ref, pointer string
		err          error
	}{
		{"#/a", "/c~1d/1/e~0f", nil}, {"#/b", "/c~1d/1/e~0f", nil}, {"#/c~1d/1", "/c~1d/1", nil}, {"#/%C3%A9%25", "/é%", nil},
		{"#//", "//", nil}, {"#", "", nil}, {"#/no", "/no", nil},
		{"#/x", "", ErrNowhere}, {"#/c~1d/2", "", ErrNowhere}, {"#/c~1d/-1", "", ErrNowhere}, {"#/c~1d/x", "", ErrNowhere},
		{"#/c~1d/0/x", "", ErrNowhere}, {"#a", "", ErrNowhere}, {"#/%zz", "", ErrNowhere}, {"#/long", "", ErrNowhere},
		{"x.json#/a", "", ErrExternal}, {"https://example.test/", "", ErrExternal}, {"", "", ErrExternal},
		{"/a", "", ErrExternal},
		{"#/self", "", ErrHops},
	} {
		for range 2 { // the second time it is remembered
			n, err := d.Follow(Node{Value: tree.Object{{Key: "$ref", Value: c.ref}}})
			if !errors.Is(err, c.err) || err == nil && n.Pointer() != c.pointer {
				t.Errorf("Follow(%s) = %q, %v, want %q, %v", c.ref, n.Pointer(), err, c.pointer, c.err)
			}
		}
	}
}

func TestChainOfSoManyReferencesIsFollowedAndNoMore(t *testing.T) {
	root, err := tree.Parse(`{"a":{"$ref":"#/b"},"b":{"$ref":"#/c"},"c":{"$ref":"#/d"},"d":{}}`, 9)
	if err != nil {
		t.Fatal(err)
	}
	for hops, want := range map[int]error{2: ErrHops, 3: nil} {
		d := NewDocument(root, hops)
		if _, err := d.Follow(d.Root().Get("a")); !errors.Is(err, want) {
			t.Errorf("with %d hops: Follow(three references) = %v, want %v", hops, err, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain, é, 漢字, 👩‍👩‍👧", "plain, é, 漢字, 👩‍👩‍👧"}, {" \n ", ""}, {"a\r\nb\tc", "a b c"}, {"a\x00\x1b\u0085b", "ab"},
		{"a\u202eb\u2066c\U000e0041d", "abcd"},
		{"a\xffb", "ab"}, {strings.Repeat("é", 1025), strings.Repeat("é", 1024)},
		{strings.Repeat("a", 1023) + " b", strings.Repeat("a", 1023)}, {strings.Repeat("\x01", 1<<20) + "x", ""},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("Text(%.30q) = %.30q, want %.30q", c.in, got, c.want)
		}
	}
}
