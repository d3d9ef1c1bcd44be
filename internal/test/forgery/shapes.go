package forgery

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"
)

// respelt: a genuine token whose bytes were changed so that a lenient decoder still reads
// the same. A deny-list of token texts would be passed by each of them.
func (f *forger) respelt() []Forgery {
	good := f.sign(f.header(), f.body())
	parts := strings.Split(good, ".")
	head, body, signature := parts[0], parts[1], parts[2]
	slack := encode(spaced(f.body().String()))
	std := base64.RawStdEncoding.EncodeToString([]byte(f.body().with("x", `"??????"`).String()))
	seal := func(head, body string) string { return f.seal(f.main, head, body) }
	return []Forgery{
		{"respelt: stray bits in the last character of the signature", head + "." + body + "." + stray(signature)},
		{"respelt: stray bits in the last character of the claims, signed", seal(head, stray(slack))},
		{"respelt: stray bits in the last character of the header, signed",
			seal(stray(encode(spaced(f.header().String()))), body)},
		{"respelt: padding behind the signature", good + "="},
		{"respelt: two paddings behind the signature", good + "=="},
		{"respelt: padding behind the claims, signed", seal(head, slack+"=")},
		{"respelt: the standard alphabet, signed", seal(head, std)},
		{"respelt: a line break behind", good + "\n"},
		{"respelt: a carriage return behind", good + "\r\n"},
		{"respelt: a line break within the signature", head + "." + body + "." + signature[:8] + "\n" + signature[8:]},
		{"respelt: a line break within the claims, signed", seal(head, body[:8]+"\n"+body[8:])},
		{"respelt: a line break within the header, signed", seal(head[:8]+"\r"+head[8:], body)},
		{"respelt: a tab in front", "\t" + good},
		{"respelt: a space behind", good + " "},
		{"respelt: a tab behind", good + "\t"},
		{"respelt: a NUL behind", good + "\x00"},
		{"respelt: a full-width dot", head + "\uff0e" + body + "\uff0e" + signature},
		{"respelt: a zero-width space behind", good + "\u200b"},
		{"respelt: percent-encoded dots", head + "%2E" + body + "%2E" + signature},
		{"respelt: in quotes", `"` + good + `"`},
	}
}

// spaced makes the text's length one more than a multiple of three, so that its base64url
// ends in a character with four unused bits.
func spaced(text string) string {
	for len(text)%3 != 1 {
		text += " "
	}
	return text
}

// stray sets an unused bit of the last character, if there is one.
func stray(segment string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := len(segment) - 1
	return segment[:last] + string(alphabet[strings.IndexByte(alphabet, segment[last])^1])
}

// misshapen: what is not three segments of a JWS, or not the ones that belong together.
func (f *forger) misshapen() []Forgery {
	good, other := f.sign(f.header(), f.body()), f.sign(f.header(), f.body().with("sub", `"other"`))
	a, b := strings.Split(good, "."), strings.Split(other, ".")
	head, body, signature := a[0], a[1], a[2]
	flipped := []byte(signature)
	flipped[10] = 'A' + (flipped[10]-'A'+1)%26
	out := []Forgery{
		{"empty", ""}, {"one dot", "."}, {"two dots", ".."}, {"a word", "token"},
		{"100,000 dots", strings.Repeat(".", 100_000)},
		{"100,000 characters", strings.Repeat("A", 100_000)},
		{"100,000 characters in three segments", head + "." + strings.Repeat("A", 100_000) + "." + signature},
		{"a genuine token and 8 KiB", good + strings.Repeat("A", 8<<10)},
		{"unicode", "令牌.令牌.令牌"}, {"emoji", strings.Repeat("🔑", 40)}, {"not UTF-8", "\xff\xfe.\xff.\xff"},
		{"without its last character", good[:len(good)-1]},
		{"without its last four characters", good[:len(good)-4]},
		{"without its first character", good[1:]},
		{"half of it", good[:len(good)/2]},
		{"one segment", head}, {"two segments", head + "." + body},
		{"no header", "." + body + "." + signature}, {"no claims", head + ".." + signature},
		{"detached claims, signed", f.seal(f.main, head, "")},
		{"a fourth segment", good + "." + signature}, {"an empty fourth segment", good + "."},
		{"an empty segment in front", "." + good},
		{"twice, with a space", good + " " + good}, {"twice, with a comma", good + "," + good},
		{"Bearer within", "Bearer " + good},
		{"claims of another token", head + "." + b[1] + "." + signature},
		{"signature of another token", head + "." + body + "." + b[2]},
		{"a changed signature", head + "." + body + "." + string(flipped)},
		{"the signature twice", good + signature},
		{"segments in another order", body + "." + head + "." + signature},
		{"an appkey", "ks_" + strings.Repeat("A", 43)}, {"a refresh token", "rt_" + strings.Repeat("A", 43)},
	}
	for name, claims := range map[string]string{
		"empty": "", "null": "null", "a string": `"x"`, "an array": "[" + f.body().String() + "]", "a number": "1",
		"two objects": f.body().String() + "{}", "cut short": strings.TrimSuffix(f.body().String(), "}"),
		"a comma too many": strings.TrimSuffix(f.body().String(), "}") + ",}", "text behind": f.body().String() + "x",
		"a byte order mark in front": "\ufeff" + f.body().String(), "very deep": strings.Repeat("[", 4000),
		"not UTF-8": f.body().with("x", "\"\xff\"").String(), "closed with a bracket": strings.TrimSuffix(f.body().String(),
			"}") + "]",
	} {
		out = append(out, Forgery{"claims: " + name, f.seal(f.main, head, encode(claims))})
	}
	return sorted(out)
}

func byName(a, b Forgery) int { return cmp.Compare(a.Name, b.Name) }

func sorted(out []Forgery) []Forgery {
	slices.SortFunc(out, byName)
	return out
}
