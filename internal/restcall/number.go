package restcall

import (
	"cmp"
	"strconv"
	"strings"
)

// number is a JSON number with all its digits: 0.digits * 10^exp. Its digits begin and end
// with none that is 0; those of zero are "".
type number struct {
	negative bool
	digits   string
	exp      int64
}

// farExp stands for exponents that no int64 holds.
const farExp = 1 << 62

func parseNumber(text string) number {
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		mantissa, exponent = text[:i], text[i+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exp := readExponent(exponent)
	digits := whole + fraction
	significant := strings.TrimLeft(digits, "0")
	exp += int64(len(whole) - (len(digits) - len(significant)))
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return number{}
	}
	return number{negative, significant, exp}
}

func readExponent(text string) int64 {
	if text == "" {
		return 0
	}
	exp, err := strconv.ParseInt(text, 10, 62)
	switch {
	case err == nil:
		return exp
	case text[0] == '-':
		return -farExp
	}
	return farExp
}

// whole reports whether n is an integer, as 5.0 and 1e3 are (JSON Schema 2020-12 4.2.3).
func (n number) whole() bool { return n.exp >= int64(len(n.digits)) }

func (n number) compare(m number) int {
	if n.negative != m.negative || n.digits == "" || m.digits == "" {
		return cmp.Compare(n.sign(), m.sign())
	}
	size := cmp.Or(cmp.Compare(n.exp, m.exp), cmp.Compare(n.digits, m.digits))
	if n.negative {
		return -size
	}
	return size
}

func (n number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.negative:
		return -1
	}
	return 1
}

// String writes equal numbers equally.
func (n number) String() string {
	if n.negative {
		return "-" + n.digits + "e" + strconv.FormatInt(n.exp, 10)
	}
	return n.digits + "e" + strconv.FormatInt(n.exp, 10)
}
