// Package qr draws QR codes (ISO/IEC 18004) as SVG that stands in a page itself: nothing
// is fetched, and the page's policy needs no exception for it.
//
// # Choices
//
// The code is black on white whatever the colours of the page are: many cameras do not
// read light on dark. The white is part of the picture, four modules of it on each side,
// as the standard demands.
//
// The error correction is M: a screen is neither torn nor dirty, and fewer and larger
// modules can be read from further away.
package qr

import (
	"fmt"
	"html/template"
	"strings"

	"rsc.io/qr"
)

// Quiet is the width of the white around a code, in modules.
const Quiet = 4

// SVG draws a text as an image with a label, which is what a screen reader says of it. An
// error means that the text is too long: more than 2,331 bytes.
func SVG(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("qr: %w", err)
	}
	side := code.Size + 2*Quiet
	var out strings.Builder
	fmt.Fprintf(&out, `<svg class="qr" role="img" aria-label="%s" viewBox="0 0 %d %d" shape-rendering="crispEdges">`, template.HTMLEscapeString(label), side, side)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fff"/><path fill="#000" d="`, side, side)
	draw(&out, code)
	out.WriteString(`"/></svg>`)
	return template.HTML(out.String()), nil
}

// draw writes the dark modules as one path, a rectangle for each run in a row.
func draw(out *strings.Builder, code *qr.Code) {
	for y := range code.Size {
		for x := 0; x < code.Size; {
			run := 0
			for code.Black(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(out, "M%d %dh%dv1h-%dz", x+Quiet, y+Quiet, run, run)
			}
			x += run + 1
		}
	}
}
