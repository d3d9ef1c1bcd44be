package qr

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rsc.io/qr"
)

const address = "https://id.example.com/oauth/signin/scan/ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// picture holds what a camera sees: dark or light by row and column.
type picture [][]bool

// look paints an SVG module by module. It fails if something is painted twice or outside.
func look(t *testing.T, svg template.HTML) picture {
	t.Helper()
	var side int
	box := regexp.MustCompile(`viewBox="0 0 (\d+) (\d+)"`).FindStringSubmatch(string(svg))
	if box == nil || box[1] != box[2] {
		t.Fatalf("no square viewBox in %.100s", svg)
	}
	side, _ = strconv.Atoi(box[1])
	p := make(picture, side)
	for y := range p {
		p[y] = make([]bool, side)
	}
	path := regexp.MustCompile(` d="([^"]*)"`).FindStringSubmatch(string(svg))[1]
	for _, part := range strings.SplitAfter(path, "z") {
		if part == "" {
			continue
		}
		var x, y, right, left int
		if _, err := fmt.Sscanf(part, "M%d %dh%dv1h-%dz", &x, &y, &right, &left); err != nil || left != right {
			t.Fatalf("%q is no run of modules", part)
		}
		for i := range right {
			if p[y][x+i] {
				t.Fatalf("%d,%d is painted twice", x+i, y)
			}
			p[y][x+i] = true
		}
	}
	return p
}

func TestPictureIsTheCodeWithWhiteAroundIt(t *testing.T) {
	for _, text := range []string{"", "1", "HELLO", address, strings.Repeat("x", 700)} {
		svg, err := SVG(text, "a code")
		if err != nil {
			t.Fatal(err)
		}
		code, err := qr.Encode(text, qr.M)
		if err != nil {
			t.Fatal(err)
		}
		p := look(t, svg)
		if len(p) != code.Size+8 {
			t.Fatalf("%.10q is %d wide, want %d and 4 on each side (ISO/IEC 18004 6.3.8)", text, len(p), code.Size)
		}
		for y := range p {
			for x := range p[y] {
				if p[y][x] != code.Black(x-4, y-4) {
					t.Fatalf("%.10q: %d,%d is dark: %v", text, x, y, p[y][x])
				}
			}
		}
	}
}

// The picture is read back by a reader of this test's own, after the standard: finder,
// format, mask, zigzag, byte mode. It knows versions 2 to 6 without damage, which is
// enough for an address.
func TestTextCanBeReadBack(t *testing.T) {
	for _, text := range []string{address, "http://127.0.0.1:8080/oauth/signin/scan/" + strings.Repeat("7", 26),
		"https://a.example/x"} {
		svg, err := SVG(text, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, look(t, svg)); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
}

// blocks gives the number of blocks that the data of a version is spread over at level M, and how many
// bytes each holds (ISO/IEC 18004 table 9).
var blocks = map[int][2]int{2: {1, 28}, 3: {1, 44}, 4: {2, 32}, 5: {2, 43}, 6: {4, 27}}

func read(t *testing.T, p picture) string {
	t.Helper()
	size := len(p) - 8
	at := func(x, y int) bool { return p[y+4][x+4] }
	version := (size - 17) / 4
	spread, known := blocks[version]
	if !known {
		t.Fatalf("version %d is not among those the test can read", version)
	}
	format := 0
	for _, x := range []int{0, 1, 2, 3, 4} {
		format <<= 1
		if at(x, 8) {
			format |= 1
		}
	}
	format ^= 0b10101
	if format>>3 != 0 {
		t.Fatalf("the level is %02b, want 00, which is M", format>>3)
	}
	stream := walk(size, version, func(x, y int) bool { return at(x, y) != masked(format&7, x, y) })
	var data []byte // of the blocks, one after the other
	for b := range spread[0] {
		for i := range spread[1] {
			data = append(data, stream[i*spread[0]+b])
		}
	}
	if data[0]>>4 != 0b0100 {
		t.Fatalf("mode %04b, want bytes", data[0]>>4)
	}
	n := int(data[0]&15)<<4 | int(data[1]>>4)
	text := make([]byte, n)
	for i := range text {
		text[i] = data[1+i]<<4 | data[2+i]>>4
	}
	return string(text)
}

func masked(mask, x, y int) bool {
	return []bool{
		(x+y)%2 == 0, y%2 == 0, x%3 == 0, (x+y)%3 == 0, (y/2+x/3)%2 == 0,
		x*y%2+x*y%3 == 0, (x*y%2+x*y%3)%2 == 0, ((x+y)%2+x*y%3)%2 == 0,
	}[mask]
}

// walk reads the modules that are data, two columns at a time, up and down.
func walk(size, version int, bit func(x, y int) bool) (stream []byte) {
	align := 4*version + 10 // the middle of the one alignment pattern
	fixed := func(x, y int) bool {
		finder := x < 9 && y < 9 || x >= size-8 && y < 9 || x < 9 && y >= size-8
		aligned := x >= align-2 && x <= align+2 && y >= align-2 && y <= align+2
		return finder || aligned || x == 6 || y == 6
	}
	n, upward := 0, true
	for right := size - 1; right > 0; right -= 2 {
		if right == 6 {
			right--
		}
		for i := range size {
			y := i
			if upward {
				y = size - 1 - i
			}
			for _, x := range []int{right, right - 1} {
				if fixed(x, y) {
					continue
				}
				if n%8 == 0 {
					stream = append(stream, 0)
				}
				if bit(x, y) {
					stream[n/8] |= 0x80 >> (n % 8)
				}
				n++
			}
		}
		upward = !upward
	}
	return stream
}

func TestScreenReaderHearsTheLabelAndItIsText(t *testing.T) {
	svg, err := SVG(address, `"><script>alert('1')</script>&`)
	if err != nil {
		t.Fatal(err)
	}
	var image struct {
		Role  string `xml:"role,attr"`
		Label string `xml:"aria-label,attr"`
		Paths []struct {
			Fill string `xml:"fill,attr"`
		} `xml:"path"`
		Rect struct {
			Fill string `xml:"fill,attr"`
		} `xml:"rect"`
	}
	if err := xml.Unmarshal([]byte(svg), &image); err != nil {
		t.Fatal(err)
	}
	if image.Role != "img" || image.Label != `"><script>alert('1')</script>&` || strings.Contains(string(svg), "<script") {
		t.Errorf("the image is %+v", image)
	}
	if len(image.Paths) != 1 || image.Paths[0].Fill != "#000" || image.Rect.Fill != "#fff" {
		t.Errorf("%d paths on %q, want one in black on white in any theme", len(image.Paths), image.Rect.Fill)
	}
}

func TestTextThatIsTooLongIsAnError(t *testing.T) {
	if svg, err := SVG(strings.Repeat("x", 2332), ""); err == nil || svg != "" {
		t.Errorf("SVG() = %.20q, %v, want an error", svg, err)
	}
	if _, err := SVG(strings.Repeat("x", 2331), ""); err != nil {
		t.Error(err)
	}
}
