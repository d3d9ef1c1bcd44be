package restcall

import "strings"

// writeCookies writes the arguments that are cookies into one header. Those of whoever
// carries the call are none of them.
func (p *Plan) writeCookies(r *Request, values arguments, c *complaints) {
	if len(p.cookies) == 0 {
		return
	}
	var text []byte
	add := func(arg, name string) bool {
		if carries(r.credential, name) || !headerName(name) {
			c.add("argument %q must not set the cookie %q", arg, clip(name, 64))
			return false
		}
		if len(text) > 0 {
			text = append(text, "; "...)
		}
		text = append(append(text, name...), '=')
		return true
	}
	for _, param := range p.cookies {
		if !values.given(param.arg, p) {
			continue
		}
		v := valueOf(values[param.arg], param.JSON)
		for n, one := range v.texts {
			name := param.Name
			if v.names != nil && param.Explode {
				name = v.names[n]
			}
			switch {
			case !plain(one):
				c.add("argument %q must have no control characters: it is sent as a cookie", param.Arg)
			case !param.Explode && !v.single:
				if add(param.Arg, name) {
					text = v.join(text, ",", false, escapeCookie)
				}
			case add(param.Arg, name):
				text = escapeCookie(text, one)
			}
			if !param.Explode || len(text) > maxHeader || len(*c) > 0 {
				break // all of it is written, or it is refused
			}
		}
	}
	if len(text) > maxHeader {
		c.add("the arguments make cookies of more than %d bytes: shorten them", maxHeader)
	}
	if len(text) > 0 {
		r.header["Cookie"] = []string{string(text)}
	}
}

// carries reports whether a credential sets a cookie, which no argument may change.
func carries(credential Credential, name string) bool {
	if credential.Header != "Cookie" {
		return false
	}
	for pair := range strings.SplitSeq(credential.Text, ";") {
		if own, _, _ := strings.Cut(strings.TrimSpace(pair), "="); own == name {
			return true
		}
	}
	return false
}
