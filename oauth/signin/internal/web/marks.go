package web

import (
	"html/template"

	"github.com/keystile/keystile/storage"
)

// Marks of our own methods that are no login type of their own.
const (
	MarkQR    = "qr"
	MarkOther = "" // of a host's own method
)

// marks holds what is drawn on the buttons to sign in, by method. They are drawn by us, letters and shapes
// in a color that people know the provider by, and no logos: those need a license. Each tile stands out
// from the light and the dark page, and its drawing from the tile; what has no tile has the text's color.
var marks = map[string]template.HTML{
	storage.LoginWX:       tile("#058a45", `<path d="M10 4.5c-3.6 0-6 2.2-6 4.8 0 1.6.9 3 2.3 3.9L6 15.5l2.5-1.4c.5.1 1 .1 1.5.1 3.6 0 6-2.2 6-4.9s-2.4-4.8-6-4.8z"/><path d="M7.8 9.2v.1M12.2 9.2v.1"/>`),
	storage.LoginQQ:       tile("#0b79b8", `<circle cx="10" cy="9.5" r="4.8"/><path d="M11.8 11.8l3.2 3.7"/>`),
	storage.LoginAlipay:   tile("#1268d6", `<path d="M5.5 15L10 5l4.5 10M7.2 11.5h5.6"/>`),
	storage.LoginDouyin:   tile("#d1184a", `<circle cx="8" cy="13" r="2.5"/><path d="M10.5 13V4.5c.4 2.1 1.7 3.3 3.7 3.5"/>`),
	storage.LoginFeishu:   tile("#00857a", `<path d="M7 15.5v-11h6.5M7 10h5"/>`),
	storage.LoginWeCom:    tile("#2f62c9", `<rect x="4.5" y="7" width="11" height="8" rx="1.5"/><path d="M7.7 7V4.8h4.6V7M4.5 10.5h11"/>`),
	storage.LoginDingTalk: tile("#0a6fd1", `<path d="M11.5 4L6 11h3.5l-1 5L14 9h-3.5z"/>`),
	storage.LoginEmail:    plain(`<rect x="3" y="5" width="14" height="10.5" rx="2"/><path d="M3.5 6.5l6.5 5 6.5-5"/>`),
	MarkQR:                plain(`<path d="M4 4h4.5v4.5H4zM11.5 4H16v4.5h-4.5zM4 11.5h4.5V16H4zM11.5 11.5h2v2h-2zM16 13.5V16h-2.5"/>`),
	MarkOther:             plain(`<path d="M9 4h5.5A1.5 1.5 0 0 1 16 5.5v9a1.5 1.5 0 0 1-1.5 1.5H9M4 10h8M9.5 7L12.5 10l-3 3"/>`),
}

func tile(color, strokes string) template.HTML {
	return svg(`<rect width="20" height="20" rx="5" fill="`+color+`"/>`, "#fff", strokes)
}

func plain(strokes string) template.HTML { return svg("", "currentColor", strokes) }

func svg(ground, color, strokes string) template.HTML {
	return template.HTML(`<svg viewBox="0 0 20 20" aria-hidden="true" focusable="false">` + ground +
		`<g fill="none" stroke="` + color + `" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">` + strokes + `</g></svg>`)
}

// Mark returns the drawing of the link's method.
func (w Link) Mark() template.HTML {
	if mark, ok := marks[w.Method]; ok {
		return mark
	}
	return marks[MarkOther]
}
