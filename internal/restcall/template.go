package restcall

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/toolplan"
)

// template is a path, one entry for each segment. Values are written into segments, so
// none can make another segment.
type template struct {
	segments [][]piece
	names    names  // of matrix parameters
	query    string // what follows ? in the template, encoded
}

// piece is a literal text, or the place of an argument.
type piece struct {
	literal string
	param   toolplan.Param
	arg     int // -1: a literal
}

// compileTemplate reads a path of OpenAPI in one pass, in which only declared names are
// placeholders. Text after # is dropped: some documents tell operations apart by it.
func compileTemplate(text string, params []toolplan.Param, args map[string]int) (template, error) {
	text, _, _ = strings.Cut(text, "#")
	path, fixed, _ := strings.Cut(text, "?")
	if !strings.HasPrefix(path, "/") {
		return template{}, errors.New("the template must begin with /")
	}
	t := template{}
	used := map[string]bool{}
	for segment := range strings.SplitSeq(path[1:], "/") {
		pieces := split(segment, params, args)
		if len(pieces) == 1 && pieces[0].arg < 0 && climbing(pieces[0].literal) {
			return template{}, fmt.Errorf("the template has the segment %q", segment)
		}
		for _, p := range pieces {
			used[p.param.Name] = true
		}
		t.segments = append(t.segments, pieces)
	}
	for _, p := range params {
		if !used[p.Name] {
			return template{}, fmt.Errorf("the template has no {%s}", p.Name)
		}
	}
	if fixed != "" {
		if _, err := url.PathUnescape(fixed); err != nil {
			return template{}, errors.New("the query of the template cannot be read")
		}
		t.query = escapeLiteral(fixed, "?") // as it is written: an order may matter, and so may a;b
	}
	return t, nil
}

// CheckTemplate says why a path of OpenAPI cannot be that of a request, whatever fills its
// placeholders, nil if it can.
func CheckTemplate(text string) error {
	plain := func(r rune) bool {
		return r < 0x80 && (unreserved(byte(r)) && r != '.' || strings.ContainsRune("/{}:,@$", r))
	}
	if strings.HasPrefix(text, "/") && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return nil // as nearly all are
	}
	_, err := compileTemplate(text, nil, nil)
	return err
}

// split cuts a segment into literals and places.
func split(segment string, params []toolplan.Param, args map[string]int) (pieces []piece) {
	literal := ""
	flush := func() {
		if literal != "" {
			pieces = append(pieces, piece{literal: escapeLiteral(literal, ""), arg: -1})
			literal = ""
		}
	}
	for segment != "" {
		i := slices.IndexFunc(params, func(p toolplan.Param) bool { return strings.HasPrefix(segment, "{"+p.Name+"}") })
		if i < 0 {
			literal, segment = literal+segment[:1], segment[1:]
			continue
		}
		flush()
		pieces = append(pieces, piece{param: params[i], arg: args[params[i].Arg]})
		segment = segment[len(params[i].Name)+2:]
	}
	flush()
	return pieces
}

// expand appends the path to dst, complaining of values that would change the route: by
// themselves, and by what they make of a segment together with what stands beside them.
func (t *template) expand(dst []byte, values arguments, in *naming) []byte {
	c := in.c
	for _, pieces := range t.segments {
		dst = append(dst, '/')
		start, last, known := len(dst), "", len(*c)
		for _, p := range pieces {
			if p.arg < 0 {
				dst = append(dst, p.literal...)
				continue
			}
			last = p.param.Arg
			raw := values[p.arg]
			if raw == nil || isNull(raw) {
				continue // complained of already
			}
			v := valueOf(raw, p.param.JSON)
			if fault := cmp.Or(v.pathFault(), v.inPathFault(p.param)); fault != "" {
				c.add("argument %q must %s", last, fault)
			}
			if p.param.Style == "matrix" && p.param.Explode {
				for _, name := range v.names {
					in.member(p.arg, name)
				}
			}
			dst = appendPath(dst, p.param, v)
		}
		if last != "" && len(*c) == known && climbing(string(dst[start:])) {
			c.add("argument %q must %s", last, faultClimbs)
		}
	}
	return dst
}

// pathFault says why a value may not be sent in a path, "" if it may.
func (v value) pathFault() string {
	if slashes(string(v.join(nil, "", false, escapeNothing))) {
		return faultEmpty
	}
	for _, text := range slices.Concat(v.names, v.texts) {
		if fault := pathFault(text); fault != "" {
			return fault
		}
	}
	return ""
}
