package rawjson

// text returns where the string that begins at b[i] ends (RFC 8259 7). That it is UTF-8 is known.
func text(b []byte, i int) (end int, err error) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case ordinary[c]:
		case c == '"':
			return i + 1, nil
		case c != '\\' || i+1 == len(b):
			return 0, ErrSyntax
		default:
			i++
			if !escapes[b[i]] {
				return 0, ErrSyntax
			}
			if b[i] == 'u' {
				if len(b)-i < 5 || !isHex[b[i+1]] || !isHex[b[i+2]] || !isHex[b[i+3]] || !isHex[b[i+4]] {
					return 0, ErrSyntax
				}
				i += 4
			}
		}
	}
	return 0, ErrSyntax
}

var (
	ordinary = bytesThat(func(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }) // in a string
	escapes  = bytesIn("\"\\/bfnrtu")
	isHex    = bytesIn("0123456789abcdefABCDEF")
)

func bytesThat(are func(c byte) bool) (is [256]bool) {
	for c := range is {
		is[c] = are(byte(c))
	}
	return is
}

func bytesIn(all string) (is [256]bool) {
	for i := range len(all) {
		is[all[i]] = true
	}
	return is
}

// number returns where the number that begins at b[i] ends (RFC 8259 6).
func number(b []byte, i int) (end int, err error) {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i, err = digits(b, i); err != nil {
		return 0, err
	}
	if i < len(b) && b[i] == '.' {
		if i, err = digits(b, i+1); err != nil {
			return 0, err
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i, nil
}

// digits goes over one or more.
func digits(b []byte, i int) (end int, err error) {
	from := i
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	if i == from {
		return 0, ErrSyntax
	}
	return i, nil
}

func literal(b []byte, i int) (end int, err error) {
	for _, word := range []string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word), nil
		}
	}
	return 0, ErrSyntax
}
