package toolschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank reports a control character or separator that stands for a blank or a new line,
// and the braille pattern without a dot.
func blank(r rune) bool {
	return r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029' || r == '\u2800'
}

// visible reports a character that is seen wherever it stands. It is a letter, mark,
// number, sign or blank, so none of Cc, Cf, Cn, Co, Cs, Zl and Zp (decision 59),
// and none of those that Unicode counts as letters and that show nothing.
func visible(r rune) bool {
	if ' ' <= r && r <= '~' {
		return true
	}
	return unicode.IsGraphic(r) && !unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
		empty)
}

// empty are characters without a shape that Unicode has in no list of its own.
var empty = &unicode.RangeTable{
	// hieroglyphic blanks, Khitan filler, null notehead
	R32: []unicode.Range32{{0x13441, 0x13442, 1}, {0x16fe4, 0x16fe4, 1}, {0x1d159, 0x1d159, 1}},
}

// kept describes the characters before the current position.
type kept struct {
	r      rune // the last character
	letter rune // the last one that is no mark common to all scripts
	emoji  bool // it is an emoji, perhaps with a selector or skin tone
	bare   bool // it is an emoji without either
}

func (k *kept) add(r rune) {
	switch {
	case 0x1f3fb <= r && r <= 0x1f3ff: // skin tones
		k.emoji, k.bare = k.bare, false
	default:
		k.bare = isEmoji(r)
		k.emoji = k.bare
	}
	if k.r = r; r < 0x300 || !unicode.Is(unicode.Inherited, r) {
		k.letter = r
	}
}

// join adds a character that is not seen itself.
func (k *kept) join(r rune) {
	k.emoji = k.emoji && r != joiner
	k.r, k.letter, k.bare = r, r, false
}

const (
	nonJoiner   = '\u200c'
	joiner      = '\u200d'
	textStyle   = '\ufe0e'
	emojiStyle  = '\ufe0f'
	keycap      = '\u20e3'
	blackFlag   = '\U0001f3f4'
	digitsOfKey = "0123456789#*"
)

// takes reports whether a character that is not seen by itself is seen here, by what it
// does to those around it.
func (k *kept) takes(r rune, rest string) bool {
	switch r {
	case nonJoiner, joiner:
		next, _ := utf8.DecodeRuneInString(rest)
		if r == joiner && k.emoji {
			return isEmoji(next)
		}
		script := scriptOf(k.letter)
		return script != nil && scriptOf(next) == script
	case textStyle:
		return k.bare
	case emojiStyle:
		return k.bare || k.r < utf8.RuneSelf && strings.ContainsRune(digitsOfKey, k.r) &&
			strings.HasPrefix(rest, string(keycap))
	}
	return false
}

// flags are England, Scotland and Wales, written in tag characters behind a black flag.
// No others are in general use.
var flags = []string{tags("gbeng"), tags("gbsct"), tags("gbwls")}

func tags(s string) string {
	return strings.Map(func(r rune) rune { return r + 0xe0000 }, s) + "\U000e007f"
}

// flag returns the length of a flag's tags at the beginning of a text, 0 if there are none.
func (k *kept) flag(rest string) int {
	if k.r != blackFlag {
		return 0
	}
	for _, f := range flags {
		if strings.HasPrefix(rest, f) {
			return len(f)
		}
	}
	return 0
}

// joining are the scripts whose letters change their shape with U+200C and U+200D.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
	unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa, unicode.Manichaean, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Balinese, unicode.Javanese, unicode.Sundanese, unicode.Chakma, unicode.Grantha,
	unicode.Newa, unicode.Tirhuta, unicode.Sharada, unicode.Kaithi, unicode.Meetei_Mayek,
}

const tatweel = '\u0640' // which lengthens Arabic words, and is of no script

// scriptOf returns the joining script of a letter, mark or digit, nil if it has none.
func scriptOf(r rune) *unicode.RangeTable {
	switch {
	case r == tatweel:
		return unicode.Arabic
	case r < 0x600 || !unicode.In(r, unicode.L, unicode.M, unicode.Nd):
		return nil
	}
	for _, script := range joining {
		if unicode.Is(script, r) {
			return script
		}
	}
	return nil
}

// isEmoji reports a character that is an emoji by itself, or with a selector behind it;
// not the letters of flags, skin tones and the digits of keycaps. Beyond the first plane
// any pictograph is taken for one.
func isEmoji(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case r < 0x10000:
		return unicode.Is(emoji, r)
	case 0x1f1e6 <= r && r <= 0x1f1ff:
		return false
	}
	return 0x1f000 <= r && r <= 0x1faff && unicode.Is(unicode.So, r)
}

// emoji lists the characters of the first plane with the property Emoji (UTS 51).
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00a9, 0x00a9, 1}, {0x00ae, 0x00ae, 1}, {0x203c, 0x203c, 1}, {0x2049, 0x2049, 1}, {0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1}, {0x21a9, 0x21aa, 1}, {0x231a, 0x231b, 1}, {0x2328, 0x2328, 1}, {0x23cf, 0x23cf, 1},
		{0x23e9, 0x23f3, 1},
		{0x23f8, 0x23fa, 1}, {0x24c2, 0x24c2, 1}, {0x25aa, 0x25ab, 1}, {0x25b6, 0x25b6, 1}, {0x25c0, 0x25c0, 1},
		{0x25fb, 0x25fe, 1},
		{0x2600, 0x2604, 1}, {0x260e, 0x260e, 1}, {0x2611, 0x2611, 1}, {0x2614, 0x2615, 1}, {0x2618, 0x2618, 1},
		{0x261d, 0x261d, 1},
		{0x2620, 0x2620, 1}, {0x2622, 0x2623, 1}, {0x2626, 0x2626, 1}, {0x262a, 0x262a, 1}, {0x262e, 0x262f, 1},
		{0x2638, 0x263a, 1},
		{0x2640, 0x2640, 1}, {0x2642, 0x2642, 1}, {0x2648, 0x2653, 1}, {0x265f, 0x2660, 1}, {0x2663, 0x2663, 1},
		{0x2665, 0x2666, 1},
		{0x2668, 0x2668, 1}, {0x267b, 0x267b, 1}, {0x267e, 0x267f, 1}, {0x2692, 0x2697, 1}, {0x2699, 0x2699, 1},
		{0x269b, 0x269c, 1},
		{0x26a0, 0x26a1, 1}, {0x26a7, 0x26a7, 1}, {0x26aa, 0x26ab, 1}, {0x26b0, 0x26b1, 1}, {0x26bd, 0x26be, 1},
		{0x26c4, 0x26c5, 1},
		{0x26c8, 0x26c8, 1}, {0x26ce, 0x26cf, 1}, {0x26d1, 0x26d1, 1}, {0x26d3, 0x26d4, 1}, {0x26e9, 0x26ea, 1},
		{0x26f0, 0x26f5, 1},
		{0x26f7, 0x26fa, 1}, {0x26fd, 0x26fd, 1}, {0x2702, 0x2702, 1}, {0x2705, 0x2705, 1}, {0x2708, 0x270d, 1},
		{0x270f, 0x270f, 1},
		{0x2712, 0x2712, 1}, {0x2714, 0x2714, 1}, {0x2716, 0x2716, 1}, {0x271d, 0x271d, 1}, {0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1}, {0x2744, 0x2744, 1}, {0x2747, 0x2747, 1}, {0x274c, 0x274c, 1}, {0x274e, 0x274e, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1}, {0x2763, 0x2764, 1}, {0x2795, 0x2797, 1}, {0x27a1, 0x27a1, 1}, {0x27b0, 0x27b0, 1},
		{0x27bf, 0x27bf, 1},
		{0x2934, 0x2935, 1}, {0x2b05, 0x2b07, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2b55, 0x2b55, 1},
		{0x3030, 0x3030, 1},
		{0x303d, 0x303d, 1}, {0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
	},
	LatinOffset: 2,
}
